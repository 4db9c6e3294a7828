/* The tables of a cluster's causes, and the id and texts of a row's cause in each scope. */
#include "diag/cluster/cluster.h"

#include "diag/cluster/causes/rows.h"

/* ---- tests of a cell that several tables use ---- */

bool cluster_cell_is_green(const struct diag_cell *c) {
    return !diag_cell_is_open(c);
}

bool cluster_cell_is_astray(const struct diag_cell *c) {
    return diag_cell_is_open(c) && c->result.outcome == PROBE_WRONG_RESPONDER;
}

bool cluster_cell_is_green_or_astray(const struct diag_cell *c) {
    return !diag_cell_is_open(c) || cluster_cell_is_astray(c);
}

bool cluster_cell_passes_some(const struct diag_cell *c) {
    return cluster_cell_is_lossy(c) || !diag_cell_is_open(c);
}

bool cluster_cell_is_of_udp(const struct diag_cell *c) {
    return c->udp || cluster_cell_has_dns_failed(c);
}

/* ---- the id and texts of a row's cause ---- */

/* A scope for which a row has no id of its own takes the title of the first scope in its line here
 * that has one. */
static const enum cluster_scope nearest[SCOPES][SCOPES] = {
    [ALL] = {ALL, NODE, IN, OUT, SYSTEMS, KINDS, PAIR},
    [SYSTEMS] = {SYSTEMS, PAIR, NODE, OUT, IN, ALL, KINDS},
    [KINDS] = {KINDS, SYSTEMS, PAIR, NODE, OUT, IN, ALL},
    [NODE] = {NODE, OUT, IN, PAIR, ALL, SYSTEMS, KINDS},
    [OUT] = {OUT, NODE, PAIR, ALL, IN, SYSTEMS, KINDS},
    [IN] = {IN, NODE, PAIR, ALL, OUT, SYSTEMS, KINDS},
    [PAIR] = {PAIR, NODE, OUT, IN, ALL, SYSTEMS, KINDS},
};

struct diag_cause_row cluster_row_title(const struct cluster_row *row, enum cluster_scope scope,
                                        enum cluster_scope *ret_as) {
    struct diag_cause_row title;
    size_t i = 0;

    while (!row->titles[nearest[scope][i]].id)
        i++;
    *ret_as = nearest[scope][i];
    title = row->titles[*ret_as];
    for (size_t k = 0; k < SCOPES; k++) {
        const struct diag_cause_row *other = &row->titles[k];

        title.message = title.message ? title.message : other->message;
        title.hint = title.hint ? title.hint : other->hint;
        title.source = title.source ? title.source : other->source;
    }
    return title;
}

/* The tables, with the widest causes first. */
static const struct cluster_rows *const tables[] = {&cluster_rows_of_pods, &cluster_rows_of_packets,
                                                    &cluster_rows_of_services,
                                                    &cluster_rows_of_targets};

const struct cluster_row *cluster_row(size_t i) {
    for (size_t t = 0; t < ARRAY_SIZE(tables); i -= tables[t++]->count)
        if (i < tables[t]->count)
            return &tables[t]->items[i];
    return NULL;
}

bool cluster_cause_row(size_t i, struct diag_cause_row *ret) {
    for (size_t r = 0; cluster_row(r); r++)
        for (enum cluster_scope scope = ALL; scope < SCOPES; scope++) {
            enum cluster_scope as;

            if (!cluster_row(r)->titles[scope].id || i--)
                continue;
            *ret = cluster_row_title(cluster_row(r), scope, &as);
            return true;
        }
    return false;
}
