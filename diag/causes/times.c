/* Causes that the times of answers show: a network with a long delay, a slow DNS, packets that are
 * sent again. */
#include "base/rfc3339.h"
#include "diag/causes/rows.h"
#include "diag/evidence.h"
#include "diag/look.h"

enum { SLOW_US = 500000 };

bool dns_is_slow(const struct scene *scene) {
    const struct diag_cell *cell = diag_cells_find(&scene->report->cells, FLOW_SVC_IP, true, false);

    return cell && cell->result.succeeded && cell->result.median_us >= SLOW_US;
}

/* A cell that connects to another machine, so that its time does not depend on a program; NULL when
 * none succeeds. Of the two flows to a Service the quicker one is taken: while kube-proxy makes a
 * load balancer, all connections of one flow may need a second attempt after one second. */
static const struct diag_cell *connection(const struct scene *scene) {
    static const enum diag_flow_id flows[] = {FLOW_SVC_IP, FLOW_SVC_FQDN, FLOW_EXT_IP};
    const struct diag_cell *best = NULL;

    for (size_t i = 0; i < ARRAY_SIZE(flows) && !(best && flows[i] == FLOW_EXT_IP); i++) {
        const struct diag_cell *cell =
            diag_cells_find(&scene->report->cells, flows[i], false, false);

        if (cell && cell->result.succeeded && (!best || cell->result.min_us < best->result.min_us))
            best = cell;
    }
    return best;
}

/* The quickest of the connections takes a quarter of a second or longer. A single connection may
 * take that long only because a packet was sent again. */
static bool is_far(const struct diag_cell *connection) {
    return connection && connection->result.min_us >= SLOW_US / 2;
}

/* Connections to other machines, which depend on no program, take half a second or longer; where
 * the DNS is slow, too, a quarter of a second is enough. */
static bool network_is_slow(const struct scene *scene) {
    const struct diag_cell *tcp = connection(scene);

    return is_far(tcp) && (dns_is_slow(scene) || tcp->result.min_us >= SLOW_US);
}

bool api_is_late(const struct scene *scene) {
    const char *outcome = json_text_at(scene->evidence, "look.api.outcome");

    return network_is_slow(scene) &&
           (text_equal(outcome, "failing") ||
            (text_equal(outcome, "unreachable") && (scene->green & CELL_TCP(SVC_IP))));
}

/* The time of a connection to a DNS pod, in microseconds, when it is a quarter of a second or
 * longer and the DNS is slow; otherwise 0. No program takes part in a connection. */
static long long way_to_dns_us(const struct scene *scene) {
    long long us = scene->extras[X_DNS_CONNECT].median_us;

    return us >= SLOW_US / 2 && dns_is_slow(scene) ? us : 0;
}

/* On such a network the API server is too late for the first look, too, because a TLS connection
 * takes several round trips. */
enum level look_latency(const struct scene *scene, struct finding *finding) {
    const struct diag_cell *dns = diag_cells_find(&scene->report->cells, FLOW_SVC_IP, true, false);
    const struct diag_cell *tcp = connection(scene);
    long long there = way_to_dns_us(scene);

    finding->may &= scene->outcome[PROBE_DNS_TIMEOUT] | scene->outcome[PROBE_TIMEOUT] |
                    scene->outcome[PROBE_NO_REPLY];
    if (!(network_is_slow(scene) || there) || !(finding->may || api_is_late(scene)))
        return NO;
    if (network_is_slow(scene)) {
        finding_note(finding, "a connection to %s takes %u ms", tcp->to,
                     tcp->result.median_us / 1000);
    } else {
        finding->message = xstrdup("packets to the DNS pods' node take very long");
        finding_note(finding, "a connection to a pod of the DNS takes %lld ms", there / 1000);
    }
    if (dns_is_slow(scene))
        finding_note(finding, "a question to %s takes %u ms", dns->to,
                     dns->result.median_us / 1000);
    return CONFIRMED;
}

/* With a slow DNS, names that take several questions have no answer in time. */
enum level look_dns_slow(const struct scene *scene, struct finding *finding) {
    const struct diag_cell *cell = diag_cells_find(&scene->report->cells, FLOW_SVC_IP, true, false);

    if (!dns_is_slow(scene)) {
        const char *pod = dns_pod(scene);

        /* The system of the DNS pod accepts connections to its port, and its program answers
         * nothing in time. */
        if (!(scene->extras[X_DNS_CONNECT].said & SAID_OK) ||
            !(scene->extras[X_DNS_POD].said & SAID_NOTHING) ||
            !(scene->extras[X_DNS_UDP].said & SAID_NOTHING) || dns_answers_by_tcp(scene))
            return NO;
        finding->must = CELL_UDP(SVC_IP);
        finding->may = CELLS_DNS;
        finding->message =
            xstrdup("the cluster's DNS takes connections, and answers too late or never");
        finding_note(
            finding,
            "%s takes TCP connections to port 53, but answers in 2 s neither by TCP nor by "
            "UDP",
            pod ? pod : "the DNS pod");
        return LIKELY;
    }
    if (is_far(connection(scene)) || way_to_dns_us(scene))
        return NO;
    finding->may &= scene->outcome[PROBE_DNS_TIMEOUT];
    if (!finding->may)
        return NO;
    finding_note(finding, "%s: an answer takes %u ms (median of %u)", cell->to,
                 cell->result.median_us / 1000, cell->result.succeeded);
    return connection(scene) ? CONFIRMED : LIKELY;
}

/* ---- packets that are sent again ---- */

/* TCP sends a lost packet again after one second, so the flow works, but is slow. A single case may
 * be chance; and when most connections are late, the cause is not packet loss. */
enum level look_tcp_loss(const struct scene *scene, struct finding *finding) {
    const json_t *look = json_object_get(scene->evidence, "look");
    size_t cells = 0, others = 0, quick = 0;

    for (size_t i = 0; i < scene->report->cells.count; i++) {
        const struct diag_cell *cell = &scene->report->cells.items[i];
        const struct probe_result *result = &cell->result;
        _cleanup_(freep) char *name = NULL;

        if (cell->udp || cell->outcome != DIAG_SLOW ||
            result->max_us < result->min_us + DIAG_SENT_AGAIN_US)
            continue;
        name = diag_cell_name(cell);
        finding_note(finding, "%s: a connection took %u ms, another %u ms", name,
                     result->max_us / 1000, result->min_us / 1000);
        cells++;
    }
    for (enum diag_extra_id extra = 0; extra < X_COUNT; extra++) {
        long long us = diag_extras[extra].timed ? scene->extras[extra].median_us : 0;

        others += us >= DIAG_SENT_AGAIN_US;
        quick += us && us < SLOW_US / 2;
    }
    if (others)
        finding_note(finding,
                     "of the questions by TCP beside the flows %zu took a second or longer, %zu "
                     "less than a quarter of one",
                     others, quick);
    if (cells + others < 2 || quick <= others || dns_is_slow(scene) || scene->partly ||
        diag_look_is_young(look, rfc3339_seconds(json_text_at(look, "time"))))
        return NO; /* Right after a start, some packets are lost normally. */
    finding->may &= scene->outcome[PROBE_TIMEOUT] | scene->outcome[PROBE_DNS_TIMEOUT];
    finding->message = xstrdup("some TCP packets are lost on the way: they are sent again");
    return LIKELY;
}
