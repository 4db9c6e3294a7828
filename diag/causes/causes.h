/* From red cells and evidence to causes: a table of rows, widest cause first. Pure. */
#pragma once

#include "diag/evidence.h"
#include "diag/reports/report.h"
#include "netsetup/agents/agent.h"

/* Judges report->cells against report->evidence (NULL allowed) and fills report->causes. What the
 * first look shows (evidence "look") comes first, with the cells that it explains or none; any
 * other cause is given only when it explains cells that no wider one explained, and never when a
 * cell that it would break has passed. */
void diag_causes_find(struct diag_report *report);
/* Whether the evidence alone says that pods will not start: a cause that keeps them from it is
 * confirmed, or they failed several times in the same way. */
bool diag_causes_stop_pods(const struct diag_report *report);

/* A row as documentation shows it. */
struct diag_cause_row {
    const char *id;      /* "NAT-NONE" */
    const char *breaks;  /* which flows it breaks, in words */
    const char *message; /* what it is, in general */
    const char *hint;
    const char
        *source; /* where it was seen in the field: "kubernetes/kubernetes#135802"; or NULL */
};
/* Row i of the table, widest first; NULL behind the last. An id may stand in two rows. */
const struct diag_cause_row *diag_cause_row(size_t i);

/* ---- the routes to other nodes' pods, as far as an agent keeps them: what is judged when flows
 * are red (OVL-PEER, L2-ROUTE), asked by a join that waits for the agent ---- */

/* The part of diag_evidence_read() that is needed here; of `options` node, nodes, network_name and
 * network_mode. New reference. */
json_t *diag_routes_read(struct host *host, const struct diag_evidence_options *options);
/* One line for each route that is missing or leads elsewhere than the other node's annotations say
 * ("no RemoteSubnetRoute for 10.244.1.0/24 (node l1)"); *ret_peers counts the nodes that the
 * agent has to write a route to. Answers whether this node's own annotations tell others how it is
 * reached. Pure; text_list_free(). */
bool diag_routes_missing(const json_t *evidence, const struct network_agent *agent,
                         size_t *ret_peers, struct text_list *ret);
