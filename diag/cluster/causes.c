/* The tables of a cluster's causes. A row says which cells it breaks and which not; nobody else
 * compares flows for it. */
#include "diag/cluster/causes.h"

#include "diag/cluster/cause_row.h"

bool cluster_cell_is_any(const struct cluster_cell *c) {
    (void)c;
    return true;
}

bool cluster_cell_is_of(const struct cluster_cell *c, const char *flow) {
    return text_equal(c->cell.flow->id, flow);
}

bool cluster_cell_is_between_pods(const struct cluster_cell *c) {
    return cluster_cell_is_of(c, "pod-to-pod-ip") && c->from != c->to;
}

bool cluster_cell_is_to_service(const struct cluster_cell *c) {
    return cluster_cell_is_of(c, "pod-to-service-ip");
}

bool cluster_cell_is_by_name(const struct cluster_cell *c) {
    return cluster_cell_is_of(c, "pod-to-service-pqdn") ||
           cluster_cell_is_of(c, "pod-to-service-fqdn") || cluster_cell_is_of(c, "pod-to-pod-name");
}

/* What needs a load balancer or a name of one. */
bool cluster_cell_is_by_service(const struct cluster_cell *c) {
    return strstr(c->cell.flow->id, "-service") || cluster_cell_is_of(c, "nodeport-remote") ||
           cluster_cell_is_of(c, "pod-to-pod-name");
}

bool cluster_cell_has_dns_failed(const struct cluster_cell *c) {
    enum probe_outcome outcome = c->cell.result.outcome;

    return outcome == PROBE_DNS_TIMEOUT || outcome == PROBE_DNS_SERVFAIL ||
           outcome == PROBE_DNS_NXDOMAIN;
}

bool cluster_cell_is_astray(const struct cluster_cell *c) {
    return cluster_cell_is_red(c) && c->cell.result.outcome == PROBE_WRONG_RESPONDER;
}

/* The widest first. */
static const struct cluster_rows *const tables[] = {&cluster_rows_of_pods, &cluster_rows_of_packets,
                                                    &cluster_rows_of_services,
                                                    &cluster_rows_of_targets};

const struct cluster_row *cluster_row(size_t i) {
    for (size_t t = 0; t < ARRAY_SIZE(tables); i -= tables[t++]->count)
        if (i < tables[t]->count)
            return &tables[t]->items[i];
    return NULL;
}

const struct diag_cause_row *cluster_cause_row(size_t i) {
    return cluster_row(i) ? &cluster_row(i)->told : NULL;
}
