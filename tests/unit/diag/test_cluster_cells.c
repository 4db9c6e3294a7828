/* The questions of a cluster's matrix word by word, what is made in the cluster for them, and what
 * is read of the answers that are only looked at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "diag/cluster/cells.h"
#include "diag/cluster/probes/asking.h"

static struct cluster_node nodes[] = {
    {.name = (char *)"w",
     .os = (char *)"windows",
     .ip = (char *)"10.0.0.1",
     .pod = (char *)"probe-1",
     .pod_ip = (char *)"10.244.1.5",
     .pod_ip6 = (char *)"fd00::1:5"},
    {.name = (char *)"l",
     .os = (char *)"linux",
     .ip = (char *)"10.0.0.2",
     .pod = (char *)"probe-2",
     .pod_ip = (char *)"10.244.2.5",
     .pod_ip6 = (char *)"fd00::2:5"},
    {.name = (char *)"m", .pod = (char *)"probe-3", .waiting = (char *)"Pending"},
};
static struct cluster_pair pairs[] = {{0, 1}};
static const struct diag_report report = {.namespace_ = (char *)"n",
                                          .domain = (char *)"d",
                                          .nodes = {nodes, ARRAY_SIZE(nodes)},
                                          .pairs = {pairs, ARRAY_SIZE(pairs)}};
static const struct cluster_addresses addresses = {
    "10.96.0.1", "fd00:1::1", "10.96.0.2", "10.96.0.4", 30010, 30011, 30031};

/* ---- cells ---- */

/* Of a node that can be asked and of one that cannot. */
static void what_is_asked(void **state) {
    static const char wanted[] =
        "pod-to-pod-ip tcp4 w 1 10.244.2.5:8080 probe-2\n"
        "pod-to-pod-ip udp4 w 1 10.244.2.5:8081 probe-2\n"
        "pod-to-pod-ip tcp6 w 1 [fd00::2:5]:8080 probe-2\n"
        "pod-to-pod-ip udp6 w 1 [fd00::2:5]:8081 probe-2\n"
        "pod-to-pod-name tcp4 w 1 probe-2.probes.n.svc.d:8080 probe-2\n"
        "pod-to-pod-name udp4 w 1 probe-2.probes.n.svc.d:8081 probe-2\n"
        "pod-to-node tcp4 w 1 10.0.0.2:10250 \n"
        "nodeport-remote tcp4 w 1 10.0.0.2:30010 *\n"
        "nodeport-remote udp4 w 1 10.0.0.2:30011 *\n"
        "pod-to-service-ip tcp4 w 0 10.96.0.1:80 *\n"
        "pod-to-service-ip udp4 w 0 10.96.0.1:90 *\n"
        "pod-to-service-ip tcp6 w 0 [fd00:1::1]:80 *\n"
        "pod-to-service-ip udp6 w 0 [fd00:1::1]:90 *\n"
        "pod-to-service-pqdn tcp4 w 0 backend:80 *\n"
        "pod-to-service-pqdn udp4 w 0 backend:90 *\n"
        "pod-to-service-fqdn tcp4 w 0 backend.n.svc.d:80 *\n"
        "pod-to-service-fqdn udp4 w 0 backend.n.svc.d:90 *\n"
        "pod-to-service-fqdn tcp4 w 0 alias.n.svc.d:443 \n"
        "pod-to-external-ip tcp4 w 0 192.0.2.1:8443 \n"
        "pod-to-external-dns tcp4 w 0 example.com:443 \n"
        "node-to-pod tcp4 w 0 10.244.1.5:8080 \n"
        "container-to-container-localhost tcp4 w 0 localhost:8082 probe-1\n"
        "container-to-container-localhost udp4 w 0 localhost:8083 probe-1\n"
        "pod-to-self-via-service tcp4 w 0 10.96.0.4:80 probe-1\n"
        "pod-to-self-via-service udp4 w 0 10.96.0.4:90 probe-1\n"
        "pod-to-pod-ip tcp4 m 2 m:8080  Pending\n";
    static const struct cluster_options options = {.external_ip = "192.0.2.1:8443",
                                                   .external_name = "example.com:443"};
    struct diag_cells cells;
    struct text t = {0};

    (void)state;
    cluster_cells_make(&report, &options, &addresses, &cells);
    for (size_t i = 0; i < cells.count; i++) {
        const struct diag_cell *c = &cells.items[i];

        assert_int_equal(c->outcome, DIAG_NOT_RUN);
        if (c->from_node == 1)
            continue;
        text_addf(&t, "%s %s%u %s %zu %s %s%s%s\n", c->flow->name, c->udp ? "udp" : "tcp",
                  (unsigned)c->family, c->from, c->to_node, c->to, c->any ? "*" : c->probe.expect,
                  c->from_node == 2 ? " " : "", c->from_node == 2 ? c->reason : "");
        if (c->from_node == 0)
            assert_string_equal(c->reason, "it was not asked");
    }
    assert_string_equal(text_str(&t), wanted);
    text_free(&t);
    free(cells.items);
}

/* The API server's path of a question; what only a kubelet asks has none. */
static void the_paths(void **state) {
    static const struct {
        size_t from, to;
        enum cluster_observation observation;
        const char *path;
    } rows[] = {
        {0, 1, OBSERVE_CLIENT,
         "dial?host=10.244.2.5&port=8080&protocol=http&request=clientip&tries=1"},
        {0, 1, OBSERVE_SERVICE,
         "dial?host=10.96.0.1&port=90&protocol=udp&request=clientip&tries=1"},
        {0, 1, OBSERVE_LOCAL,
         "dial?host=10.0.0.2&port=30031&protocol=udp&request=clientip&tries=1"},
        {0, 1, OBSERVE_OWN, "dial?host=10.96.0.4&port=80&protocol=http&request=hostname&tries=1"},
        {0, 1, OBSERVE_STICKY,
         "dial?host=10.96.0.2&port=80&protocol=http&request=hostname&tries=4"},
        {0, 0, OBSERVE_DNS, ""},
        {1, 1, OBSERVE_DNS, ""},
        {2, 0, OBSERVE_CLIENT, NULL},
        {2, 2, OBSERVE_DNS, NULL},
    };
    static const struct cluster_addresses none = {0};
    struct diag_cell cell = {.flow = diag_flow_find("pod-to-pod-ip"), .udp = true};
    _cleanup_(freep) char *path = NULL;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *observation = cluster_observation_path(
            &report, rows[i].observation, rows[i].from, rows[i].to, &addresses);
        _cleanup_(freep) char *wanted =
            xasprintf("/api/v1/namespaces/n/pods/probe-%zu:%d/proxy/%s", rows[i].from + 1,
                      rows[i].observation == OBSERVE_DNS ? 8084 : 8080, rows[i].path);

        if (rows[i].path)
            assert_string_equal(observation, wanted);
        else
            assert_null(observation);
    }
    for (enum cluster_observation s = OBSERVE_SERVICE; s <= OBSERVE_STICKY; s++)
        assert_null(
            cluster_observation_path(&report, s, 0, 1, &none)); /* a Service without an address */
    text_format(cell.probe.target, sizeof cell.probe.target, "%s", "fd00::2:5");
    cell.probe.port = 8081;
    path = cluster_cell_path(&report, &cell, ASK_NAME, 1);
    assert_string_equal(path,
                        "/api/v1/namespaces/n/pods/probe-1:8080/proxy/dial?host=fd00%3A%3A2%3A5&"
                        "port=8081&protocol=udp&request=hostname&tries=1");
    cell.from_node = 2;
    assert_null(cluster_cell_path(&report, &cell, ASK_NAME, 1));
    cell.from_node = 0;
    cell.flow = diag_flow_find("node-to-pod");
    assert_null(cluster_cell_path(&report, &cell, ASK_NAME, 1));
}

/* Where large packets are lost is said when all or none arrive there; else only that they are. */
static void where_large_ones_are_lost(void **state) {
    static const struct {
        unsigned there;
        int large;
        const char *end;
    } cases[] = {{0, LARGE_LOST_THERE, "are lost on the way there"},
                 {1, LARGE_LOST, "are lost"},
                 {2, LARGE_LOST, "are lost"},
                 {3, LARGE_LOST_BACK, "are lost on the way back"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct diag_cell cell = {.outcome = DIAG_PASS, .result = {.attempts = 3, .succeeded = 3}};
        const struct cluster_tally tally = {
            .asked = {[ASK_NAME] = 3, [ASK_LARGE] = 3, [ASK_LARGE_THERE] = 3},
            .answered = {[ASK_NAME] = 3, [ASK_LARGE_THERE] = cases[i].there}};
        bool mixed = false;

        cluster_cell_judge_large(&cell, &tally, &mixed);
        assert_int_equal(cell.large, cases[i].large);
        assert_int_equal(cell.outcome, DIAG_FAIL);
        assert_true(text_ends_with(cell.reason, cases[i].end));
    }
}

/* Large packets: of TCP an echo or a name by a long URL, of UDP within what agnhost reads. */
static void the_paths_of_large_ones(void **state) {
    struct diag_cell cell = {
        .to_node = 1, .flow = diag_flow_find("pod-to-pod-ip"), .probe.target = "h"};

    (void)state;
    for (unsigned udp = 0; udp < 2; udp++)
        for (unsigned there = 0; there < 2; there++) {
            static const char *const begins[2][2] = {{"echo%3Fmsg%3D", "hostname%3F"},
                                                     {"echo%20", "hostname"}};
            _cleanup_(freep) char *path = NULL;
            const char *at, *fill = udp && there ? "+" : "0";

            cell.udp = udp;
            path = cluster_cell_path(&report, &cell, there ? ASK_LARGE_THERE : ASK_LARGE, 1);
            at = strstr(path, "&request=") + strlen("&request=");
            assert_true(text_starts_with(at, begins[udp][there]));
            at += strlen(begins[udp][there]);
            assert_int_equal(strspn(at, fill), udp ? 1400 : 3000);
            assert_string_equal(at + strspn(at, fill), "&tries=1");
        }
    assert_true(cluster_cell_is_between_pods(&cell));
    cell.to_node = 0; /* a pod that is asked by itself */
    assert_null(cluster_cell_path(&report, &cell, ASK_LARGE, 1));
    cell.to_node = 1;
    cell.flow = diag_flow_find("pod-to-pod-name");
    assert_null(cluster_cell_path(&report, &cell, ASK_LARGE, 1));
}

/* In another domain, and nothing else. */
static void names_of_another_domain(void **state) {
    static const char *const rows[][2] = {{"backend.n.svc.d", "backend.n.svc.e.org"},
                                          {"alias.n.svc.d", "domain-alias.n.svc.e.org"},
                                          {"backend", "backend"},
                                          {"10.1.2.3", "10.1.2.3"},
                                          {"www.d", "www.d"},
                                          {"a.svc.xd", "a.svc.xd"},
                                          {"d", "d"}};
    struct diag_cell items[ARRAY_SIZE(rows)] = {0};
    struct diag_cells cells = {items, ARRAY_SIZE(rows)};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        text_format(items[i].probe.target, sizeof items[i].probe.target, "%s", rows[i][0]);
        items[i].probe.port = 80;
    }
    cluster_cells_rename(&cells, "d", "e.org");
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        assert_string_equal(items[i].probe.target, rows[i][1]);
    assert_string_equal(items[1].to, "domain-alias.n.svc.e.org:80");
    assert_string_equal(items[2].to, "");
}

/* ---- what is only looked at ---- */

static void what_is_seen(void **state) {
    static const struct {
        enum cluster_observation observation;
        long status;
        const char *body;
        bool seen, sticky, fixed;
        const char *ip; /* that others see */
    } rows[] = {
        {OBSERVE_CLIENT, 200, "{\"responses\":[\"10.244.1.5:4000\"]}", true, false, false,
         "10.244.1.5"},
        {OBSERVE_SERVICE, 200, "{\"responses\":[\"[fd00::5]:4000\"]}", true, false, false,
         "fd00::5"},
        {OBSERVE_LOCAL, 200, "{\"responses\":[\"unknown\"]}", true, false, false, "unknown"},
        {OBSERVE_CLIENT, 200, "{\"errors\":[\"i/o timeout\"]}", false, false, false, NULL},
        {OBSERVE_CLIENT, 503, "{\"kind\":\"Status\"}", false, false, false, NULL},
        {OBSERVE_OWN, 200, "{\"responses\":[\"probe-1\"]}", true, false, false, NULL},
        {OBSERVE_STICKY, 200, "{\"responses\":[\"probe-1\",\"probe-1\"]}", true, true, true, NULL},
        {OBSERVE_STICKY, 200, "{\"responses\":[\"probe-1\",\"probe-2\"]}", true, true, false, NULL},
        {OBSERVE_STICKY, 200, "{\"responses\":[\"probe-1\"]}", true, false, true, NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct cluster_node node = {0};
        char **ips[] = {&node.client_ip, &node.service_ip, &node.local_ip};

        cluster_observation_read(&node, rows[i].observation, rows[i].status, rows[i].body,
                                 strlen(rows[i].body));
        assert_int_equal(node.observed, rows[i].seen ? 1U << rows[i].observation : 0);
        assert_int_equal(node.sticky, rows[i].sticky);
        assert_int_equal(node.fixed, rows[i].fixed);
        for (size_t k = 0; k < ARRAY_SIZE(ips); k++) {
            if (rows[i].ip && rows[i].observation == OBSERVE_CLIENT + k)
                assert_string_equal(*ips[k], rows[i].ip);
            else
                assert_null(*ips[k]);
            free(*ips[k]);
        }
    }
}

/* ---- what is made ---- */

/* Each address is that of its own Service; one that a server did not give is none. */
static void addresses_of_services(void **state) {
    static const char text[] =
        "[{\"spec\":{\"clusterIP\":\"None\"}},"
        "{\"spec\":{\"clusterIP\":\"10.96.0.1\",\"clusterIPs\":[\"10.96.0.1\",\"fd00::1\"],"
        "\"ports\":[{\"nodePort\":30010},{\"nodePort\":30011}]}},"
        "{\"spec\":{\"clusterIP\":\"10.96.0.2\"}},"
        "{\"spec\":{\"clusterIP\":\"10.96.0.3\",\"ports\":[{\"nodePort\":30030},{\"nodePort\":"
        "30031}]}},"
        "{\"spec\":{\"clusterIP\":\"None\"}}]";
    _cleanup_json_ json_t *services = NULL;
    struct cluster_addresses at;

    (void)state;
    assert_int_equal(json_read(text, strlen(text), "it", &services, NULL), 0);
    cluster_addresses_read(services, &at);
    assert_string_equal(at.backend_ip, "10.96.0.1");
    assert_string_equal(at.backend_ip6, "fd00::1");
    assert_string_equal(at.sticky_ip, "10.96.0.2");
    assert_string_equal(at.self_ip, "");
    assert_int_equal(at.node_port, 30010);
    assert_int_equal(at.node_port_udp, 30011);
    assert_int_equal(at.local_port_udp, 30031);
    json_array_clear(services);
    cluster_addresses_read(services, &at);
    assert_int_equal(at.node_port + at.node_port_udp + at.local_port_udp, 0);
}

/* What Pod Security "restricted" asks of pods of each system, what stays behind a run that was
 * killed, and where Services lead. */
static void what_is_made(void **state) {
    static const struct {
        unsigned object; /* 0: pod of a Windows node, 1: of a Linux one, 2: the Services */
        const char *path, *json;
    } rows[] = {
        {0, "spec.securityContext",
         "{\"runAsNonRoot\":true,\"windowsOptions\":{\"runAsUserName\":\"ContainerUser\"}}"},
        {0, "spec.containers.0.securityContext", NULL},
        {0, "spec.containers.1.resources.requests", "{\"cpu\":\"5m\",\"memory\":\"64Mi\"}"},
        {0, "spec.os.name", "\"windows\""},
        {0, "spec.activeDeadlineSeconds", "900"},
        {0, "spec.terminationGracePeriodSeconds", "0"},
        {0, "spec.automountServiceAccountToken", "false"},
        {0, "spec.enableServiceLinks", "false"},
        {1, "spec.securityContext",
         "{\"runAsGroup\":65532,\"runAsNonRoot\":true,\"runAsUser\":65532,\"seccompProfile\":{"
         "\"type\":\"RuntimeDefault\"}}"},
        {1, "spec.containers.1.securityContext",
         "{\"allowPrivilegeEscalation\":false,\"capabilities\":{\"drop\":[\"ALL\"]}}"},
        {1, "spec.containers.0.resources.requests", "{\"cpu\":\"5m\",\"memory\":\"16Mi\"}"},
        {1, "spec.containers.0.args", "[\"netexec\",\"--http-port=8080\",\"--udp-port=8081\"]"},
        {1, "spec.containers.1.args",
         "[\"netexec\",\"--http-port=8082\",\"--udp-port=8083\",\"--http-override=/hostname\"]"},
        {0, "spec.containers.2.args",
         "[\"netexec\",\"--http-port=8084\",\"--udp-port=-1\",\"--http-override=/shell?cmd="
         "%2Fagnhost%20dns-suffix%3B%20echo%3B%20%2Fagnhost%20dns-server-list\"]"},
        {1, "spec.containers.2.args",
         "[\"netexec\",\"--http-port=8084\",\"--udp-port=-1\",\"--http-override=/shell?cmd="
         "echo%20%24%28sed%20-n%20%27s%2F%5Esearch%20%2A%2F%2Fp%27%20%2Fetc%2Fresolv.conf"
         "%29%20%7C%20tr%20%27%20%27%20%2C%3B%20echo%20%24%28sed%20-n%20%27s%2F%5Enameserver%20%2A"
         "%2F%2Fp%27%20%2Fetc%2Fresolv.conf%29%20%7C%20tr%20%27%20%27%20%2C\"]"},
        {0, "spec.containers.0.env", "[{\"name\":\"PATHEXT\",\"value\":\".NONE\"}]"},
        {0, "spec.volumes", NULL},
        {1, "spec.containers.0.volumeMounts",
         "[{\"mountPath\":\"/bin\",\"name\":\"nothing\",\"readOnly\":true}]"},
        {1, "spec.volumes", "[{\"emptyDir\":{},\"name\":\"nothing\"}]"},
        {1, "spec.containers.0.ports",
         "[{\"containerPort\":8080},{\"containerPort\":8081,\"protocol\":\"UDP\"}]"},
        {1, "spec.containers.0.readinessProbe",
         "{\"httpGet\":{\"path\":\"/hostname\",\"port\":8080},\"periodSeconds\":1,"
         "\"timeoutSeconds\":5}"},
        {1, "spec.containers.1.readinessProbe", NULL},
        {2, "0.spec.clusterIP", "\"None\""},
        {2, "1.spec.publishNotReadyAddresses", "true"},
        {2, "3.spec.ports",
         "[{\"name\":\"http\",\"port\":80,\"targetPort\":8082},{\"name\":\"udp\",\"port\":90,"
         "\"protocol\":\"UDP\",\"targetPort\":8083}]"},
    };
    json_t *made[] = {cluster_pod_make(&nodes[0], "image"), cluster_pod_make(&nodes[1], "image"),
                      cluster_services_make("d")};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const json_t *part = json_at(made[rows[i].object], rows[i].path);
        _cleanup_(freep) char *text =
            part ? json_dumps(part, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY) : NULL;

        if (!text_equal(text, rows[i].json))
            fail_msg("%s is %s", rows[i].path, text ? text : "not there");
    }
    assert_int_equal(json_number_at(made[0], "spec.activeDeadlineSeconds", 0), POD_LIFE_SECONDS);
    assert_string_equal(json_text_at(made[0], "metadata.labels.app\\.kubernetes\\.io/managed-by"),
                        CLUSTER_MANAGER_NAME);
    for (size_t i = 0; i < ARRAY_SIZE(made); i++)
        json_decref(made[i]);
}

/* agnhost's netexec runs a command for whoever asks, unless all requests get one answer, or there
 * is no /bin/sh (of Windows with an ending of PATHEXT). Only a container with an override may stand
 * behind a Service. */
static bool listens(const json_t *container, int64_t port) {
    json_each(json_object_get(container, "ports"), i, item) {
        if (json_number_at(item, "containerPort", 0) == port)
            return true;
    }
    return false;
}

static void no_container_has_an_open_shell(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        _cleanup_json_ json_t *pod = cluster_pod_make(&nodes[i], "image");

        json_each(json_at(pod, "spec.containers"), n, container) {
            _cleanup_(freep) char *text = json_dumps(container, JSON_COMPACT);
            bool windows = text_equal(nodes[i].os, "windows");

            assert_true(strstr(text, "\"--http-override=/") ||
                        strstr(text, windows ? "\"PATHEXT\"" : "\"/bin\""));
        }
    }
}

static void no_service_leads_to_a_shell(void **state) {
    _cleanup_json_ json_t *pod = cluster_pod_make(&nodes[0], "image");
    _cleanup_json_ json_t *services = cluster_services_make("d");
    unsigned led = 0;

    (void)state;
    json_each(services, i, service) {
        json_each(json_at(service, "spec.ports"), k, port) {
            int64_t target = json_number_at(port, "targetPort", 0);

            json_each(json_at(pod, "spec.containers"), n, container) {
                _cleanup_(freep) char *args =
                    json_dumps(json_object_get(container, "args"), JSON_COMPACT);

                if (!listens(container, target))
                    continue;
                led++;
                assert_non_null(strstr(args, "\"--http-override=/hostname\""));
            }
        }
    }
    assert_int_equal(led, 10); /* five Services, TCP and UDP */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_asked),
        cmocka_unit_test(no_container_has_an_open_shell),
        cmocka_unit_test(no_service_leads_to_a_shell),
        cmocka_unit_test(the_paths),
        cmocka_unit_test(the_paths_of_large_ones),
        cmocka_unit_test(where_large_ones_are_lost),
        cmocka_unit_test(names_of_another_domain),
        cmocka_unit_test(what_is_seen),
        cmocka_unit_test(addresses_of_services),
        cmocka_unit_test(what_is_made),
    };

    return cmocka_run_group_tests_name("a cluster's questions", tests, NULL, NULL);
}
