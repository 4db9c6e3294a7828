/* What went away while it was asked: a node that died, was drained, or lost its kubelet or its
 * network; a pod that was deleted. */
#pragma once

#include "diag/cluster/probes/asking.h"

/* What such a node is `waiting` for begins so. */
#define CLUSTER_GONE "it went away while it was asked: "

/* `why`: taken over; nothing where it waits for something already. */
void cluster_node_gone(struct cluster_node *node, char *why);
/* Where cells failed: asks probes that answered once for their own answer again; of `all`, or of
 * those of such cells alone. Where few of them say nothing, each of these is `silent`
 * (asking->hearing) and `unreached`, and what others reach there is asked again. */
void cluster_ask_silent(struct cluster_asking *asking, bool all);
/* Then: Nodes that became not Ready, or were deleted; of silent ones how long ago the kubelet
 * renewed its Lease. What may not be read is no failure: a silent node that no other reaches is
 * gone without it. */
void cluster_look_for_gone(struct cluster_asking *asking, const char *nodes_path);
