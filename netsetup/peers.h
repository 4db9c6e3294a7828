/* The ways to other nodes' pods as they stand now, so that the boot service can lay them again:
 * Windows forgets overlay networks with their policies, and routes, at a restart. */
#ifndef NETSETUP_PEERS_H
#define NETSETUP_PEERS_H

#include "base/error.h"
#include "base/json.h"
#include "host/host.h"
#include "netsetup/network_plan.h"

/* New reference, an array: overlay: the network's RemoteSubnetRoute policies; l2bridge: {podCIDR,
 * nodeAddress} of each route into the cluster's pod prefixes. Empty with an agent (flannel), which
 * keeps its own. */
int peers_read(struct host *host, const struct network_plan *plan, json_t **ret, struct error *err);
/* Adds those that are missing; NULL or empty is success. The network must stand. ERROR_MALFORMED
 * for an array that peers_read() did not make. */
int peers_lay(struct host *host, const struct network_plan *plan, const json_t *peers,
              struct error *err);

#endif
