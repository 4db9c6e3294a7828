/* Mode transparent: Pods are on the physical network through an external switch, with MAC addresses
 * of their own. Their gateway is a router of that network, which has the first address of the
 * node's Pod prefix. Kubernetes lists this mode for OVN only ("Networking on Windows"). The switch
 * translates no addresses, so Services work only where the network routes to them. */
#include "netsetup/modes/mode.h"

const struct network_mode network_mode_transparent = {
    .name = "transparent",
    .hns_type = "Transparent",
    .network_name = "transparent",
    /* sdnbridge accepts an existing network of any type, but win-bridge refuses this type. */
    .cni_plugins = (const char *const[]){"sdnbridge", NULL},
    .ipv4_only = "its CNI plugin, sdnbridge, has two families on L2Bridge only",
    .fabric_gateway = true,
    .no_host_routes = "the pods' gateway is a router of the network, which reaches them directly",
    .limits =
        (const struct network_limit[]){NETWORK_LIMIT_NO_SERVICES,
                                       {"mac-spoofing",
                                        "pods send with MAC addresses of their own: on a virtual "
                                        "machine the hypervisor must allow MAC address spoofing",
                                        false},
                                       {0}},
};
