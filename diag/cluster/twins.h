/* What two Nodes have in common that each should have for itself. */
#pragma once

#include "diag/cluster/cluster.h"

/* How node->twin begins where pods of both nodes have the same addresses. */
#define CLUSTER_TWIN_SUBNET "its pod subnet"
#define CLUSTER_TWIN_POD "the address of its probe"
/* Where what is sent to one node's pods comes to the other's. */
#define CLUSTER_TWIN_OVERLAY "flannel's "

/* Sets node->twin of each node whose pod subnet (of a network that uses it),
 * address or MAC address that flannel announces, own address or, on Linux, machine ID another Node
 * has, too. `items`: the Nodes, in the same order. */
void cluster_twins_of_nodes(struct cluster_nodes *nodes, const json_t *items);
/* The same of their probes' addresses, when these run. */
void cluster_twins_of_pods(struct cluster_nodes *nodes);
