/* The ways to other nodes' pods as they stand now, so that the boot service can lay them again:
 * Windows forgets overlay networks with their policies, and routes, at a restart. */
#ifndef NETSETUP_PEERS_H
#define NETSETUP_PEERS_H

#include "base/error.h"
#include "base/json.h"
#include "host/host.h"
#include "netsetup/network_plan.h"

/* One other node, as its Node object tells of it. Text is borrowed from that; NULL or "" or 0 = not
 * said. */
struct network_peer {
    const char *node;         /* metadata.name */
    const char *pod_cidr;     /* of its pods */
    const char *node_address; /* its first InternalIP */
    /* what an agent announces about it in annotations */
    bool announced;
    const char *backend; /* the agent's word for its mode */
    const char *address; /* behind which its pods are */
    char router_mac[24]; /* of its end of VXLAN's tunnels */
    unsigned vni;
};
/* Pure. */
void network_peer_read(const json_t *node, struct network_peer *ret);

/* New reference, an array: overlay: the network's RemoteSubnetRoute policies; l2bridge: {podCIDR,
 * nodeAddress} of each route into the cluster's pod prefixes. Empty with an agent (flannel), which
 * keeps its own. */
int peers_read(struct host *host, const struct network_plan *plan, json_t **ret, struct error *err);
/* Adds those that are missing; NULL or empty is success. The network must stand. ERROR_MALFORMED
 * for an array that peers_read() did not make. */
int peers_lay(struct host *host, const struct network_plan *plan, const json_t *peers,
              struct error *err);

#endif
