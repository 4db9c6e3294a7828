/* The common part of the modes whose Pods send with their own address over a bridge (L2Bridge,
 * L2Tunnel), as members of a struct network_mode. */
#pragma once

#include "netsetup/hns/hcn_network.h"
#include "netsetup/modes/mode.h"
#include "netsetup/routes/routes.h"

/* "cbr0" is the name that flanneld gives to this network. */
#define NETWORK_MODE_BRIDGE                                                                        \
    .cni_plugins = (const char *const[]){"win-bridge", "sdnbridge", "azure-vnet", NULL},           \
    .network_name = "cbr0", .host_routes = true, .lacks = MODE_LACKS_ICMP_OUT, .vfp = true,        \
    .node_network = true, .forwarding = true, .host_endpoint = true, .complete = bridge_complete,  \
    .route_to = next_hop_route_to, .routes_read = next_hop_routes_read,                            \
    .routes_write = next_hop_routes_write, .routes_remove = next_hop_routes_remove

/* Makes the host's own endpoint on a bridge and attaches it to the host's compartment ("already
 * attached" is success). The host and the endpoint then forward packets. An endpoint with another
 * address is replaced if the network is winjoin's; otherwise this fails with ERROR_CONFLICT. Fails
 * with ERROR_TIMED_OUT when no interface got the address. */
int bridge_complete(struct host *host, const struct network_plan *plan, struct hcn_network *network,
                    struct error *err);
