/* The cells of a cluster's matrix: which question each of them is, and who may answer it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "diag/cluster/cells.h"

static struct cluster_node node(const char *name, const char *pod, const char *ip,
                                const char *pod_ip, const char *pod_ip6) {
    return (struct cluster_node){.name = xstrdup(name),
                                 .os = xstrdup("linux"),
                                 .pod = xstrdup(pod),
                                 .ip = xstrdup(ip),
                                 .pod_ip = xstrdup(pod_ip),
                                 .pod_ip6 = pod_ip6 ? xstrdup(pod_ip6) : NULL};
}

/* Two nodes with both families; a third has no probe. */
static struct diag_report report_make(void) {
    struct diag_report report = {.namespace_ = xstrdup("ns"), .domain = xstrdup("c.local")};
    struct cluster_pair pairs[] = {{0, 1}, {1, 0}};

    report.nodes.items = xrealloc(NULL, 3 * sizeof *report.nodes.items);
    report.nodes.items[0] = node("n0", "p0", "10.0.0.1", "10.244.0.2", "fd00::2");
    report.nodes.items[1] = node("n1", "p1", "10.0.0.2", "10.244.1.2", "fd00:1::2");
    report.nodes.items[2] = (struct cluster_node){
        .name = xstrdup("n2"), .os = xstrdup("linux"), .waiting = xstrdup("Pending: no room")};
    report.nodes.count = 3;
    report.pairs.items = xrealloc(NULL, sizeof pairs);
    memcpy(report.pairs.items, pairs, sizeof pairs);
    report.pairs.count = ARRAY_SIZE(pairs);
    return report;
}

/* A cell a line: flow, family, protocol, from, what is dialed, who must answer ("any": a probe). */
static char *listed(const struct diag_cells *cells) {
    struct text t = {0};

    for (size_t i = 0; i < cells->count; i++) {
        const struct diag_cell *c = &cells->items[i];

        text_addf(&t, "%s %s%u %s %s %s\n", c->flow->name, c->udp ? "udp" : "tcp", c->family,
                  c->from, c->to,
                  c->any             ? "any"
                  : *c->probe.expect ? c->probe.expect
                                     : "-");
    }
    return text_take(&t);
}

/* What flows.h says of each flow, for both directions of the pair and each node. */
static const char wanted[] = "pod-to-pod-ip tcp4 n0 10.244.1.2:8080 p1\n"
                             "pod-to-pod-ip udp4 n0 10.244.1.2:8081 p1\n"
                             "pod-to-pod-ip tcp6 n0 [fd00:1::2]:8080 p1\n"
                             "pod-to-pod-ip udp6 n0 [fd00:1::2]:8081 p1\n"
                             "pod-to-pod-name tcp4 n0 p1.probes.ns.svc.c.local:8080 p1\n"
                             "pod-to-pod-name udp4 n0 p1.probes.ns.svc.c.local:8081 p1\n"
                             "pod-to-node tcp4 n0 10.0.0.2:10250 -\n"
                             "nodeport-remote tcp4 n0 10.0.0.2:30001 any\n"
                             "nodeport-remote udp4 n0 10.0.0.2:30002 any\n"
                             "pod-to-pod-ip tcp4 n1 10.244.0.2:8080 p0\n"
                             "pod-to-pod-ip udp4 n1 10.244.0.2:8081 p0\n"
                             "pod-to-pod-ip tcp6 n1 [fd00::2]:8080 p0\n"
                             "pod-to-pod-ip udp6 n1 [fd00::2]:8081 p0\n"
                             "pod-to-pod-name tcp4 n1 p0.probes.ns.svc.c.local:8080 p0\n"
                             "pod-to-pod-name udp4 n1 p0.probes.ns.svc.c.local:8081 p0\n"
                             "pod-to-node tcp4 n1 10.0.0.1:10250 -\n"
                             "nodeport-remote tcp4 n1 10.0.0.1:30001 any\n"
                             "nodeport-remote udp4 n1 10.0.0.1:30002 any\n"
                             "pod-to-service-ip tcp4 n0 10.96.0.7:80 any\n"
                             "pod-to-service-ip udp4 n0 10.96.0.7:90 any\n"
                             "pod-to-service-ip tcp6 n0 [fd01::7]:80 any\n"
                             "pod-to-service-ip udp6 n0 [fd01::7]:90 any\n"
                             "pod-to-service-pqdn tcp4 n0 backend:80 any\n"
                             "pod-to-service-pqdn udp4 n0 backend:90 any\n"
                             "pod-to-service-fqdn tcp4 n0 backend.ns.svc.c.local:80 any\n"
                             "pod-to-service-fqdn udp4 n0 backend.ns.svc.c.local:90 any\n"
                             "pod-to-service-fqdn tcp4 n0 alias.ns.svc.c.local:443 -\n"
                             "pod-to-external-ip tcp4 n0 192.0.2.1:443 -\n"
                             "pod-to-external-dns tcp4 n0 example.com:80 -\n"
                             "node-to-pod tcp4 n0 10.244.0.2:8080 -\n"
                             "container-to-container-localhost tcp4 n0 localhost:8082 p0\n"
                             "container-to-container-localhost udp4 n0 localhost:8083 p0\n"
                             "pod-to-self-via-service tcp4 n0 10.96.0.8:80 p0\n"
                             "pod-to-self-via-service udp4 n0 10.96.0.8:90 p0\n"
                             "pod-to-service-ip tcp4 n1 10.96.0.7:80 any\n"
                             "pod-to-service-ip udp4 n1 10.96.0.7:90 any\n"
                             "pod-to-service-ip tcp6 n1 [fd01::7]:80 any\n"
                             "pod-to-service-ip udp6 n1 [fd01::7]:90 any\n"
                             "pod-to-service-pqdn tcp4 n1 backend:80 any\n"
                             "pod-to-service-pqdn udp4 n1 backend:90 any\n"
                             "pod-to-service-fqdn tcp4 n1 backend.ns.svc.c.local:80 any\n"
                             "pod-to-service-fqdn udp4 n1 backend.ns.svc.c.local:90 any\n"
                             "pod-to-service-fqdn tcp4 n1 alias.ns.svc.c.local:443 -\n"
                             "pod-to-external-ip tcp4 n1 192.0.2.1:443 -\n"
                             "pod-to-external-dns tcp4 n1 example.com:80 -\n"
                             "node-to-pod tcp4 n1 10.244.1.2:8080 -\n"
                             "container-to-container-localhost tcp4 n1 localhost:8082 p1\n"
                             "container-to-container-localhost udp4 n1 localhost:8083 p1\n"
                             "pod-to-self-via-service tcp4 n1 10.96.0.8:80 p1\n"
                             "pod-to-self-via-service udp4 n1 10.96.0.8:90 p1\n"
                             "pod-to-pod-ip tcp4 n2 n2:8080 -\n";

static void each_cell_asks_its_question(void **state) {
    static const struct cluster_options options = {.external_ip = "192.0.2.1:443",
                                                   .external_name = "example.com:80"};
    static const struct cluster_addresses at = {.backend_ip = "10.96.0.7",
                                                .backend_ip6 = "fd01::7",
                                                .self_ip = "10.96.0.8",
                                                .node_port = 30001,
                                                .node_port_udp = 30002};
    struct diag_report report = report_make();
    struct diag_cells cells;
    _cleanup_(freep) char *list = NULL;

    (void)state;
    cluster_cells_make(&report, &options, &at, &cells);
    list = listed(&cells);
    assert_string_equal(list, wanted);
    assert_string_equal(cells.items[cells.count - 1].reason, "Pending: no room");
    for (size_t i = 0; i < cells.count; i++)
        assert_int_equal(cells.items[i].outcome, DIAG_NOT_RUN);
    report.cells = cells;
    diag_report_free(&report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_cell_asks_its_question),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
