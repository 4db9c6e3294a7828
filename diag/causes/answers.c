/* Causes that the answers themselves show: by one protocol only, no such zone, some lost. */
#include <string.h>

#include "base/memory.h"
#include "diag/causes/rows.h"
#include "diag/evidence.h"

/* Asked straight at its cluster IP, the DNS answers over one protocol and not over the other. */
enum level look_dns_proto(const struct scene *scene, struct finding *finding) {
    const char *udp = extra_outcome(scene, "x-dns-udp"), *tcp = extra_outcome(scene, "x-dns-tcp");
    const char *vip = expected(scene, "dnsIP");
    bool over_udp = text_equal(udp, "ok"), over_tcp = text_equal(tcp, "ok");

    if (!udp || !tcp || over_udp == over_tcp || !load_balancer_of(scene, vip, UDP, DNS_PORT) ||
        !load_balancer_of(scene, vip, TCP, DNS_PORT))
        return NO;
    finding->must = over_udp ? CELL_TCP(SVC_SHORT) : CELL_UDP(SVC_IP);
    finding->may = over_udp ? CELL_TCP(SVC_SHORT) : CELLS_DNS;
    finding_note(finding, "%s port 53: over UDP %s, over TCP %s", vip, udp, tcp);
    return CONFIRMED;
}

/* The DNS answers, and says that the cluster's own zone has no such name. */
enum level look_dns_zone(const struct scene *scene, struct finding *finding) {
    const char *domain = expected(scene, "dnsDomain");

    finding->may &= scene->unresolved;
    if (!text_equal(extra_outcome(scene, "x-dns-udp"), "dns-nxdomain") ||
        !(scene->outcome[PROBE_DNS_NXDOMAIN] & CELL_UDP(SVC_IP)))
        return NO;
    finding_note(finding, "%s says that kubernetes.default.svc.%s does not exist",
                 expected(scene, "dnsIP") ? expected(scene, "dnsIP") : "the DNS Service",
                 domain ? domain : "cluster.local");
    return CONFIRMED;
}

/* An API server with several adapters announces the wrong one: nobody reaches that. */
enum level look_api_addr(const struct scene *scene, struct finding *finding) {
    const char *vip = expected(scene, "kubernetesIP");
    const char *server = json_text_at(scene->evidence, "look.api.server");
    const char *backend = diag_evidence_backend(scene->evidence, vip, TCP, HTTPS_PORT);
    const char *outcome = extra_outcome(scene, "x-node-api");
    _cleanup_(freep) char *authority = xasprintf("//%s:", backend ? backend : "");

    if (!backend || !outcome || text_equal(outcome, "ok") ||
        (server && strstr(server, authority)) ||
        !text_equal(json_text_at(scene->evidence, "look.api.outcome"), "ok"))
        return NO;
    finding_note(finding,
                 "the node talks to %s; the Service kubernetes (%s) leads to %s, which the node "
                 "does not reach: %s",
                 server ? server : "the API server", vip, backend, outcome);
    return CONFIRMED;
}

enum level look_api_pods(const struct scene *scene, struct finding *finding) {
    const char *vip = expected(scene, "kubernetesIP");
    const char *server = json_text_at(scene->evidence, "look.api.server");
    const char *backend = diag_evidence_backend(scene->evidence, vip, TCP, HTTPS_PORT);

    if (!text_equal(json_text_at(scene->evidence, "look.api.outcome"), "ok") ||
        !load_balancer_of(scene, vip, TCP, HTTPS_PORT) || !(scene->green & CELL_UDP(SVC_IP)))
        return NO;
    finding_note(finding,
                 "the node itself talks to %s; the load balancer of %s port 443 sends to %s",
                 server ? server : "the API server", vip, backend ? backend : "it");
    return LIKELY;
}

/* Some attempts succeed, some do not. Of a Service with several backends one may be dead; between
 * two addresses it is loss. */
enum level look_loss(const struct scene *scene, struct finding *finding) {
    const uint32_t straight =
        CELL_BOTH(POD_IP) | CELL_BOTH(EXT_IP) | CELL_BOTH(NODE_POD) | CELL_BOTH(POD_NODE);

    for (size_t i = 0; i < scene->report->cells.count; i++) {
        const struct diag_cell *cell = &scene->report->cells.items[i];
        _cleanup_(freep) char *name = NULL;

        if (cell->flow->extra || cell->second != scene->second || cell->outcome != DIAG_FAIL ||
            !(cell_bit(cell) & scene->partly))
            continue;
        name = diag_cell_name(cell);
        finding_note(finding, "%s: %u of %u attempts succeeded", name, cell->result.succeeded,
                     cell->result.attempts);
    }
    finding->may = scene->partly;
    return !scene->partly ? NO : (scene->partly & straight) ? CONFIRMED : LIKELY;
}
