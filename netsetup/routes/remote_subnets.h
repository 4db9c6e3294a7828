/* Routes to other nodes' pods over VXLAN: RemoteSubnetRoute policies of the network. What the
 * functions do: `routes_*` of struct network_mode. */
#pragma once

#include "netsetup/plan/network_plan.h"
#include "netsetup/routes/peers.h"

/* The policy: to the prefix of the node's pods, behind the address and the router's MAC that its
 * Node announces. */
json_t *remote_subnet_to(const struct network_plan *plan, const struct network_peer *peer);
int remote_subnets_read(struct host *host, const struct network_plan *plan, json_t *list,
                        struct error *err);
int remote_subnets_write(struct host *host, const struct network_plan *plan, const json_t *routes,
                         bool only, struct error *err);
