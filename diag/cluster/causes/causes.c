/* The tables of a cluster's causes. A row says which cells it breaks and which not; nobody else
 * compares flows for it. */
#include "diag/cluster/causes/causes.h"

#include "diag/cluster/causes/cause_row.h"

bool cluster_cell_is_any(const struct diag_cell *c) {
    (void)c;
    return true;
}

bool cluster_cell_is_astray(const struct diag_cell *c) {
    return diag_cell_is_open(c) && c->result.outcome == PROBE_WRONG_RESPONDER;
}

/* ---- what a row is called ---- */

/* A scope without an id of its own is called as the next one of its line that has one. */
static const enum cluster_scope nearest[SCOPES][SCOPES] = {
    [ALL] = {ALL, NODE, IN, OUT, SYSTEMS, KINDS, PAIR},
    [SYSTEMS] = {SYSTEMS, PAIR, NODE, OUT, IN, ALL, KINDS},
    [KINDS] = {KINDS, SYSTEMS, PAIR, NODE, OUT, IN, ALL},
    [NODE] = {NODE, OUT, IN, PAIR, ALL, SYSTEMS, KINDS},
    [OUT] = {OUT, NODE, PAIR, ALL, IN, SYSTEMS, KINDS},
    [IN] = {IN, NODE, PAIR, ALL, OUT, SYSTEMS, KINDS},
    [PAIR] = {PAIR, NODE, OUT, IN, ALL, SYSTEMS, KINDS},
};

struct diag_cause_row cluster_row_told(const struct cluster_row *row, enum cluster_scope scope,
                                       enum cluster_scope *ret_as) {
    struct diag_cause_row told;
    size_t i = 0;

    while (!row->told[nearest[scope][i]].id)
        i++;
    *ret_as = nearest[scope][i];
    told = row->told[*ret_as];
    for (size_t k = 0; k < SCOPES; k++) {
        const struct diag_cause_row *other = &row->told[k];

        told.message = told.message ? told.message : other->message;
        told.hint = told.hint ? told.hint : other->hint;
        told.source = told.source ? told.source : other->source;
    }
    return told;
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

bool cluster_cause_row(size_t i, struct diag_cause_row *ret) {
    for (size_t r = 0; cluster_row(r); r++)
        for (enum cluster_scope scope = ALL; scope < SCOPES; scope++) {
            enum cluster_scope as;

            if (!cluster_row(r)->told[scope].id || i--)
                continue;
            *ret = cluster_row_told(cluster_row(r), scope, &as);
            return true;
        }
    return false;
}
