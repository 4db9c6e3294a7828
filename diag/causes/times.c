/* Finds causes that the times of answers show: a network with a long delay, a slow DNS, packets
 * that are sent again. */
#include "base/rfc3339.h"
#include "diag/causes/cause_rows.h"
#include "diag/evidence.h"
#include "diag/first_look.h"

/* On such a network the API server is too late for the first look, too, because a TLS connection
 * takes several round trips. */
enum level judge_latency(const struct symptoms *symptoms, struct cause_finding *finding) {
    const struct diag_cell *dns =
        diag_cells_find(&symptoms->report->cells, FLOW_SVC_IP, true, false);
    const struct diag_cell *tcp = symptoms->connection;
    long long there = symptoms->dns_connect_us;

    finding->may &= symptoms->outcome[PROBE_DNS_TIMEOUT] | symptoms->outcome[PROBE_TIMEOUT] |
                    symptoms->outcome[PROBE_NO_REPLY];
    if (!(symptoms->network_is_slow || there) || !(finding->may || symptoms->api_is_late))
        return NO;
    if (symptoms->network_is_slow) {
        finding_note(finding, "a connection to %s takes %u ms", tcp->to,
                     tcp->result.median_us / 1000);
    } else {
        finding->message = xstrdup("packets to the DNS pods' node take very long");
        finding_note(finding, "a connection to a pod of the DNS takes %lld ms", there / 1000);
    }
    if (symptoms->dns_is_slow)
        finding_note(finding, "a question to %s takes %u ms", dns->to,
                     dns->result.median_us / 1000);
    return CONFIRMED;
}

/* With a slow DNS, names that take several questions have no answer in time. */
enum level judge_dns_slow(const struct symptoms *symptoms, struct cause_finding *finding) {
    const struct diag_cell *cell =
        diag_cells_find(&symptoms->report->cells, FLOW_SVC_IP, true, false);

    if (!symptoms->dns_is_slow) {
        const char *pod = symptoms->dns_pod;

        /* The system of the DNS pod accepts connections to its port, and its program answers
         * nothing in time. */
        if (!(symptoms->extras[X_DNS_CONNECT].said & SAID_OK) ||
            !(symptoms->extras[X_DNS_POD].said & SAID_NOTHING) ||
            !(symptoms->extras[X_DNS_UDP].said & SAID_NOTHING) || symptoms->dns_answers_by_tcp)
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
    if (symptoms->network_is_slow || symptoms->dns_connect_us)
        return NO;
    finding->may &= symptoms->outcome[PROBE_DNS_TIMEOUT];
    if (!finding->may)
        return NO;
    finding_note(finding, "%s: an answer takes %u ms (median of %u)", cell->to,
                 cell->result.median_us / 1000, cell->result.succeeded);
    return symptoms->connection ? CONFIRMED : LIKELY;
}

/* ---- packets that are sent again ---- */

/* TCP sends a lost packet again after one second, so the flow works, but is slow. A single case may
 * be chance; and when most connections are late, the cause is not packet loss. */
enum level judge_tcp_loss(const struct symptoms *symptoms, struct cause_finding *finding) {
    const json_t *look = json_object_get(symptoms->evidence, "look");
    size_t cells = 0, others = 0, quick = 0;

    for (size_t i = 0; i < symptoms->report->cells.count; i++) {
        const struct diag_cell *cell = &symptoms->report->cells.items[i];
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
        long long us = diag_extras[extra].timed ? symptoms->extras[extra].median_us : 0;

        others += us >= DIAG_SENT_AGAIN_US;
        quick += us && us < SLOW_US / 2;
    }
    if (others)
        finding_note(finding,
                     "of the questions by TCP beside the flows %zu took a second or longer, %zu "
                     "less than a quarter of one",
                     others, quick);
    if (cells + others < 2 || quick <= others || symptoms->dns_is_slow || symptoms->partly ||
        diag_look_is_young(look, rfc3339_seconds(json_text_at(look, "time"))))
        return NO; /* Right after a start, some packets are lost normally. */
    finding->may &= symptoms->outcome[PROBE_TIMEOUT] | symptoms->outcome[PROBE_DNS_TIMEOUT];
    finding->message = xstrdup("some TCP packets are lost on the way: they are sent again");
    return LIKELY;
}
