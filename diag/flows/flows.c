/* Has the table of the flow matrix, and judges its cells. */
#include "diag/flows/flows.h"

static const char *const outcomes[] = {
    [DIAG_PASS] = "pass", [DIAG_FAIL] = "fail",       [DIAG_SLOW] = "slow",
    [DIAG_SKIP] = "skip", [DIAG_NOT_RUN] = "not-run",
};

const char *diag_outcome_name(enum diag_outcome outcome) {
    return outcomes[outcome];
}

int diag_outcome_parse(const char *name, enum diag_outcome *ret) {
    for (size_t i = 0; i < ARRAY_SIZE(outcomes); i++)
        if (text_equal(name, outcomes[i])) {
            *ret = (enum diag_outcome)i;
            return 0;
        }
    return -1;
}

#define FLOW_ROW(with, id, name, from, to, by, is)                                                 \
    [FLOW_##id] = {FLOW_##id, name, from, to, by, is},
const struct diag_flow diag_flows[] = {DIAG_FLOWS(FLOW_ROW, ){0}};

#define EXTRA_ROW(id, name, bytes, timed) [X_##id] = {name, bytes, timed},
const struct diag_extra diag_extras[] = {DIAG_EXTRAS(EXTRA_ROW)};

const struct diag_flow *diag_flow_find(const char *name) {
    for (const struct diag_flow *flow = diag_flows; flow->name; flow++)
        if (text_equal(name, flow->name))
            return flow;
    return NULL;
}

void diag_cells_free(struct diag_cells *cells) {
    free(cells->items);
    *cells = (struct diag_cells){0};
}

struct diag_cell *diag_cells_find(const struct diag_cells *cells, enum diag_flow_id flow, bool udp,
                                  bool second) {
    for (size_t i = 0; i < cells->count; i++)
        if (cells->items[i].udp == udp && cells->items[i].second == second &&
            cells->items[i].flow->id == flow)
            return &cells->items[i];
    return NULL;
}

char *diag_cell_name(const struct diag_cell *cell) {
    return xasprintf("%s/%s%s", cell->flow->name, cell->udp ? "udp" : "tcp",
                     cell->second ? "/ipv6" : "");
}

void diag_cell_judge(struct diag_cell *cell, const struct probe_result *result, bool retried) {
    const char *outcome = probe_outcome_names[result->outcome];
    struct ip address;

    cell->result = *result;
    cell->reason[0] = '\0';
    cell->one_way = DIAG_ONE_WAY_NONE;
    if (result->outcome == PROBE_OK) {
        cell->outcome = retried ? DIAG_SLOW : DIAG_PASS;
        if (retried)
            text_format(cell->reason, sizeof cell->reason, "failed at first, then succeeded");
        /* A time difference of about one second shows that a packet was sent again. Flows by name
         * are left out, because a name may take as long to resolve. */
        if (ip_parse(cell->probe.target, &address, NULL) == 0 && cell->probe.kind == PROBE_TCP &&
            result->min_us && result->max_us >= result->min_us + DIAG_SENT_AGAIN_US) {
            cell->outcome = DIAG_SLOW;
            text_format(cell->reason, sizeof cell->reason,
                        "a connection took %u ms, another %u ms, as where some packets are lost",
                        result->max_us / 1000, result->min_us / 1000);
        }
        return;
    }
    cell->outcome = DIAG_FAIL;
    if (result->succeeded)
        text_format(cell->reason, sizeof cell->reason, "%u of %u attempts succeeded, then %s",
                    result->succeeded, result->attempts, outcome);
    else if (result->outcome == PROBE_WRONG_RESPONDER && result->responder[0])
        text_format(cell->reason, sizeof cell->reason, "answered by '%s' instead of '%s'",
                    result->responder, cell->probe.expect);
    else if (result->address_count && !text_equal(result->addresses[0], cell->probe.target))
        text_format(cell->reason, sizeof cell->reason, "%s, %u attempt%s; the name resolved to %s",
                    outcome, result->attempts, PLURAL(result->attempts), result->addresses[0]);
    else
        text_format(cell->reason, sizeof cell->reason, "%s, %u attempt%s", outcome,
                    result->attempts, PLURAL(result->attempts));
}

void diag_cell_judge_back(struct diag_cell *cell, const struct probe_result *back, bool retried) {
    const char *names[] = {cell->from, cell->probe.expect};
    struct diag_cell other = *cell;
    bool is_back = cell->outcome != DIAG_FAIL;

    if (is_back == (back->outcome == PROBE_OK))
        return; /* Both directions have the same result. */
    if (is_back) {
        text_format(other.probe.expect, sizeof other.probe.expect, "%s", cell->from);
        diag_cell_judge(&other, back, retried);
        cell->outcome = other.outcome;
        cell->result = other.result;
    }
    cell->one_way = is_back ? DIAG_ONE_WAY_BACK : DIAG_ONE_WAY_THERE;
    text_format(cell->reason, sizeof cell->reason, "%s, from %s to %s; the other way it works",
                other.reason, names[is_back], names[!is_back]);
}

void diag_cells_excuse(struct diag_cells *cells, const struct network_limit *limits) {
    for (; limits && limits->code; limits++)
        for (size_t i = 0; i < cells->count; i++) {
            struct diag_cell *cell = &cells->items[i];

            if (!limits->services || cell->outcome != DIAG_FAIL ||
                !(cell->flow->is & (FLOW_NAME | FLOW_SERVICE)))
                continue;
            cell->outcome = DIAG_SKIP;
            text_format(cell->reason, sizeof cell->reason, "%s", limits->code);
        }
    for (size_t i = 0; i < cells->count; i++) {
        struct diag_cell *name = &cells->items[i];
        const struct diag_cell *service =
            diag_cells_find(cells, FLOW_SVC_FQDN, name->udp, name->second);

        if (name->flow->id != FLOW_POD_NAME || name->outcome != DIAG_FAIL ||
            name->result.outcome != PROBE_DNS_NXDOMAIN || !service || service->outcome == DIAG_FAIL)
            continue;
        name->outcome = DIAG_SKIP;
        text_format(name->reason, sizeof name->reason, "dns-no-pod-records");
    }
}
