/* L2tunnel: L2bridge for virtual machines on Azure. Every packet, also one between two pods of this
 * node, goes up to the physical host, which applies the virtual network's rules. Elsewhere nothing
 * answers there. Source: "Windows container network drivers" (l2tunnel), Microsoft's documentation.
 */
#include "netsetup/hcn_network.h"
#include "netsetup/modes/mode.h"
#include "netsetup/routes.h"

const struct network_mode network_mode_l2tunnel = {
    .name = "l2tunnel",
    .hns_type = "L2Tunnel",
    .cni_plugins = (const char *const[]){"win-bridge", NULL},
    .foreign_cni_plugins = (const char *const[]){"sdnbridge", NULL},
    .ipv4_only = "dual stack is not supported by this version of winjoin; IPv4 is",
    .host_routes = true,
    .node_network = true,
    .forwarding = true,
    .plan = hcn_host_endpoint_plan,
    .plan_addresses = hcn_host_endpoint_address,
    .complete = hcn_host_endpoint_complete,
    .route_to = pod_route_to,
    .routes_read = pod_routes_read,
    .routes_write = pod_routes_write,
};
