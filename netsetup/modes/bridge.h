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
    .node_network = true, .forwarding = true, .plan = bridge_plan,                                 \
    .plan_addresses = bridge_address, .complete = bridge_complete, .next = pod_route_next,         \
    .route_to = pod_route_to, .routes_read = pod_routes_read, .routes_write = pod_routes_write,    \
    .routes_remove = pod_routes_forget

/* The host's own endpoint on a bridge (L2Bridge, L2Tunnel), as functions of a struct network_mode.
 *
 * bridge_plan sets the endpoint's name.
 *
 * bridge_address sets its address, base+2 of the Pod prefix, which is the Pods' gateway; base+1 is
 * HNS's own.
 *
 * bridge_complete makes the endpoint, attaches it to the host's compartment ("already attached" is
 * success) and turns on forwarding for host and endpoint. An endpoint with another address is
 * replaced on winjoin's own network, otherwise ERROR_CONFLICT. ERROR_TIMED_OUT when no interface
 * gets the address. */
int bridge_plan(const struct network_input *input, struct network_plan *plan, struct error *err);
int bridge_address(const struct network_prefixes *prefixes, struct network_plan *plan,
                   struct error *err);
int bridge_complete(struct host *host, const struct network_plan *plan, struct hcn_network *network,
                    struct error *err);
