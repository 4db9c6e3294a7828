/* What the modes have in common whose pods leave with their own address over a bridge (L2Bridge,
 * L2Tunnel): members of a struct network_mode. */
#pragma once

#include "netsetup/hcn_network.h"
#include "netsetup/modes/mode.h"
#include "netsetup/routes.h"

#define NETWORK_MODE_BRIDGE                                                                        \
    .cni_plugins = (const char *const[]){"win-bridge", "sdnbridge", "azure-vnet", NULL},           \
    .host_routes = true, .lacks = MODE_LACKS_ICMP_OUT, .vfp = true, .node_network = true,          \
    .forwarding = true, .plan = hcn_host_endpoint_plan,                                            \
    .plan_addresses = hcn_host_endpoint_address, .complete = hcn_host_endpoint_complete,           \
    .next = pod_route_next, .route_to = pod_route_to, .routes_read = pod_routes_read,              \
    .routes_write = pod_routes_write, .routes_remove = pod_routes_forget
