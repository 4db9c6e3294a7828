/* Asks probes by exec where the API server does not reach them by their address. */
#pragma once

#include "diag/cluster/cluster.h"

/* The cells that were not asked of each node that is `unreached`, one node after the other, for 45
 * s at most. Where it is possible the node is `by_exec` then; where not, `unreached` says why. */
void cluster_ask_by_exec(struct kube_client *client, struct cluster_report *report);
