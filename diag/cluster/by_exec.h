/* Asks probes by exec where the API server does not reach them by their address. */
#pragma once

#include "diag/cluster/cluster.h"

/* The cells that were not asked of each node that is `unreached`, for 45 s at most. Where it is
 * possible the node is `by_exec` then; where not, `unreached` says why. `again`: instead of each
 * that is `by_exec` the cells that failed, and new ones. Returns how many are still open. */
size_t cluster_ask_by_exec(struct kube_client *client, struct cluster_report *report, bool again);
