/* Asks probes by exec where the API server does not reach them by their address. */
#pragma once

#include "diag/cluster/cluster.h"

enum cluster_exec {
    EXEC_NODES, /* all of each node that is `unreached`, and was not asked so before */
    EXEC_OPEN,  /* of nodes that were: cells that failed, and new ones */
    EXEC_NEW,   /* cells that were not asked */
};
/* For 45 s at most. Where it is possible the node is `by_exec` then; where not, `unreached` says
 * why. Returns how many cells of such nodes are still open. */
size_t cluster_ask_by_exec(struct kube_client *client, struct diag_report *report,
                           enum cluster_exec what);
/* Asks the cells of each node that is `by_exec` report->count times more, those that work or lose
 * packets by chance: their loss, not how long answers take, as a shell and curl take longer than
 * the network. The probe itself asks several times for each question, so a name is resolved once
 * for five attempts, which are all lost where it does not resolve. Five minutes at most: cells have
 * fewer attempts then. ERROR_INTERRUPTED alone. */
int cluster_count_by_exec(struct kube_client *client, struct diag_report *report,
                          struct error *err);
