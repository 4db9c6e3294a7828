/* Has the tables of a cluster's causes, texts about a node's state, and ids and titles. */
#include "diag/cluster/cluster.h"

#include "diag/cluster/causes/cluster_cause_rows.h"
#include "diag/cluster/probes/asking.h"

/* ---- the texts about the state of a node ---- */

const char *cluster_words_of(const struct cluster_node *n, enum cluster_words words) {
    bool gone = n->waiting && text_starts_with(n->waiting, CLUSTER_GONE);
    bool evicted = n->ready && n->waiting && strstr(n->waiting, "Evicted");
    bool overlay = n->twin && text_starts_with(n->twin, CLUSTER_TWIN_OVERLAY);
    bool pods = n->twin && (text_starts_with(n->twin, CLUSTER_TWIN_SUBNET) ||
                            text_starts_with(n->twin, CLUSTER_TWIN_POD));
    /* Before Windows Server 2022, HNS does not support session affinity. */
    bool old = text_equal(n->os, "windows") && (!n->build || strcmp(n->build, "10.0.20348") < 0);

    switch (words) {
    case SAYS_NOTHING:
        break;
    case SAYS_GONE:
        return gone ? n->waiting : NULL;
    case SAYS_NOT_READY:
        return n->ready || gone ? NULL : n->waiting;
    case SAYS_EVICTED:
        return evicted ? n->waiting : NULL;
    case SAYS_NO_POD:
        return n->ready && !gone && !evicted ? n->waiting : NULL;
    case SAYS_TWIN_PODS:
        return pods ? n->twin : NULL;
    case SAYS_TWIN_OVERLAY:
        return overlay ? n->twin : NULL;
    case SAYS_TWIN:
        return pods || overlay ? NULL : n->twin;
    case SAYS_UNREACHED:
        return n->waiting ? NULL : n->unreached;
    case SAYS_NO_AFFINITY:
        return n->sticky && !n->fixed && !old
                   ? "different pods answered one pod by a Service with sessionAffinity ClientIP"
                   : NULL;
    case SAYS_NO_LOCAL_PORT: /* Another node observes this. */
        return "its NodePort of a Service with externalTrafficPolicy Local answers no other node, "
               "though one of the Service's pods runs there; other NodePorts of the node do";
    }
    return NULL;
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
