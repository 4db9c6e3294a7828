/* The ways between this node's pods and other nodes', where no agent keeps them. */
#ifndef JOIN_PHASES_POD_ROUTES_H
#define JOIN_PHASES_POD_ROUTES_H

#include "join/join.h"
#include "netsetup/hcn_network.h"

/* With flannel: nothing, flanneld does it. Overlay: publishes this node's VTEP in its Node's
 * annotations as flannel does, and lays a RemoteSubnetRoute for each other node that publishes one.
 * l2bridge: a host route for each other node's podCIDR, journalled. As the nodes are now, once; a
 * node that may not list the others is told so in a warning. Kinds: those of kube_patch,
 * kube_nodes_list, and of the host. */
int pod_routes_publish(struct join *join, const struct hcn_network *network, struct error *err);

#endif
