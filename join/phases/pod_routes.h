/* The routes between this node's pods and other nodes', where no agent keeps them. */
#pragma once

#include "join/join.h"
#include "netsetup/hns/hcn_network.h"

/* Where an agent keeps them: nothing. Where the network between the nodes has them (--routes none,
 * print): takes away what an earlier join wrote, and with print adds text and commands for the
 * routes of every node to what is left to do. Else announces this node in its Node's annotations,
 * where the nodes of its network want that, and writes the route to each other node's pods (the
 * host's own are journalled). As the nodes are now, once; a node that may not list the others is
 * told so in a warning. Kinds: those of kube_patch, kube_nodes_get, and of the host. */
int pod_routes_publish(struct join *join, const struct hcn_network *network, struct error *err);
