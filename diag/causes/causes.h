/* Finds the causes of red cells (failed or not run) from the evidence, by a table of rows with the
 * widest cause first. Pure. */
#pragma once

#include "diag/evidence.h"
#include "diag/reports/report.h"
#include "netsetup/agents/agent.h"

/* Judges report->cells against report->evidence (which may be NULL), and fills report->causes.
 * Causes that the first look shows (evidence "look") come first, with the cells that they explain,
 * or without any. Any other cause is given only when it explains cells that no wider cause
 * explained, and never when a cell that it would break has passed. */
void diag_causes_find(struct diag_report *report);
/* Says whether the evidence alone shows that the probe pods will not start: a cause that keeps them
 * from starting is confirmed, or their start failed several times in the same way. */
bool diag_causes_stop_pods(const struct diag_report *report);

/* A row of the decision table, as documentation shows it. */
struct diag_cause_row {
    const char *id;      /* The id of the cause, such as "NAT-NONE". */
    const char *breaks;  /* The flows that the cause breaks, in words. */
    const char *message; /* The general description of the cause. */
    const char *hint;
    /* A report of the cause from the field, such as "kubernetes/kubernetes#135802"; or NULL. */
    const char *source;
};
/* Returns row i of the table, whose widest row is first; NULL behind the last row. Two rows may
 * have the same id. */
const struct diag_cause_row *diag_cause_row(size_t i);

/* ---- routes to other nodes' pods that an agent writes, for a join that waits for them ---- */

/* Reads the part of diag_evidence_read() that diag_routes_missing() needs. Uses only node, nodes,
 * network_name and network_mode of `options`. Returns a new reference. */
json_t *diag_routes_read(struct host *host, const struct diag_evidence_options *options);
/* Writes one line into *ret for each route that is missing, or leads elsewhere than the other
 * node's annotations say ("no RemoteSubnetRoute for 10.244.1.0/24 (node l1)"). *ret_peers counts
 * the nodes to which the agent has to write a route. Returns true when this node's own annotations
 * tell other nodes how to reach it. Pure; the caller frees *ret with text_list_free(). */
bool diag_routes_missing(const json_t *evidence, const struct network_agent *agent,
                         size_t *ret_peers, struct text_list *ret);
