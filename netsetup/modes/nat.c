/* Mode nat: Pods are behind WinNAT on an internal switch. They send with the node's address, and
 * nothing outside the node reaches them. For machines without a cluster network. Kubernetes lists
 * this mode as not used ("Networking on Windows"), and Windows forgets the network at a restart
 * ("Windows container network drivers", Microsoft's documentation). */
#include "netsetup/modes/mode.h"

const struct network_mode network_mode_nat = {
    .name = "nat",
    .hns_type = "NAT",
    .network_name = "nat", /* HNS's own name; older builds of the CNI plugin need it. */
    .cni_plugins = (const char *const[]){"nat", NULL},
    .ipv4_only = "WinNAT translates IPv4 only",
    .internal = true,
    .no_host_routes = "other nodes cannot reach the pods",
    .isolated = "in mode nat other nodes cannot reach this node's pods, and these reach no Service",
    .limits =
        (const struct network_limit[]){
            NETWORK_LIMIT_NO_SERVICES,
            {"nat-inbound",
             "other nodes do not reach the pods; of what comes from outside the node, only "
             "mapped host ports arrive (hostPort)",
             false},
            {0}},
};
