/* Mode l2tunnel: L2Bridge for virtual machines on Azure. Every packet, even between two Pods of
 * this node, goes to the physical host, which applies the rules of the virtual network. Outside
 * Azure, no physical host answers. Source: "Windows container network drivers" (l2tunnel),
 * Microsoft's
 * docs. */
#include "netsetup/modes/bridge.h"

const struct network_mode network_mode_l2tunnel = {
    .name = "l2tunnel",
    .hns_type = "L2Tunnel",
    /* sdnbridge checks the network's type: it has dual stack only on L2Bridge. */
    .ipv4_only = "Windows supports it in mode l2bridge only",
    NETWORK_MODE_BRIDGE,
};
