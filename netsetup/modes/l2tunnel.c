/* L2tunnel: L2bridge for virtual machines on Azure. Every packet, also one between two pods of this
 * node, goes up to the physical host, which applies the virtual network's rules. Elsewhere nothing
 * answers there. Source: "Windows container network drivers" (l2tunnel), Microsoft's docs. */
#include "netsetup/modes/bridge.h"

const struct network_mode network_mode_l2tunnel = {
    .name = "l2tunnel",
    .hns_type = "L2Tunnel",
    .ipv4_only = "Windows supports it in mode l2bridge only", /* sdnbridge looks at the type */
    NETWORK_MODE_BRIDGE,
};
