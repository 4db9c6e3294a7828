/* Finds causes of failures between pods: of nodes, kinds of nodes and pairs of nodes, and of one
 * protocol or IP family only. */
#include "diag/cluster/causes/cluster_cause_rows.h"

#define ON_NODE "winjoin diag on that node, where it is a Windows node, names what is missing there"
#define TCP_ONLY "look for a firewall or policy that lets TCP pass only"
#define CHECKSUMS                                                                                  \
    "switch off tx-checksum-ip-generic of the VXLAN device on the Linux nodes (ethtool -K DEVICE " \
    "tx-checksum-ip-generic off); " TCP_ONLY
#define UDP_ALONE "UDP alone does not work"
#define TCP_ALONE "TCP alone does not work"
#define TCP_HINT                                                                                   \
    "look for a firewall or policy that lets UDP pass only, or that sees the answers without the " \
    "questions: packets that go another way than they come back"
#define WRONG                                                                                      \
    "CL-WRONG", "connections to an address that another pod has now",                              \
        "another pod answers than the one that has the address",                                   \
        "restart kube-proxy on the nodes that ask: a stale endpoint or load balancer sends "       \
        "them there",                                                                              \
        "kubernetes/kubernetes#110674"
/* Questions of other nodes to a pod that is gone meanwhile fail, too. */
#define WITHOUT_POD .confirmed = true, .follows = {ANY_FLOW}, .follows_to_node = true
#define IPV6                                                                                       \
    [ALL] = {"CL-IPV6", "IPv6", "IPv6 alone does not work",                                        \
             "compare the dual-stack settings of the CNI agent; an overlay of Windows nodes "      \
             "has no IPv6",                                                                        \
             "kubernetes.io: IPv4/IPv6 dual-stack, Windows"},                                      \
    [NODE] = {                                                                                     \
        "CL-IPV6-NODE", "IPv6 to or from the node's pods", NULL,                                   \
        "compare the IPv6 pod subnet, routes and firewall of that node with those of another: "    \
        "powershell Get-NetRoute -AddressFamily IPv6 on a Windows node, ip -6 route on a Linux "   \
        "node",                                                                                    \
        NULL}

#define TWINS                                                                                      \
    "CL-TWINS", "connections from and to the node's pods",                                         \
        "another Node has the same address, address or MAC address of flannel, or machine ID",     \
        "a machine that was cloned needs an address and a machine ID of its own "                  \
        "(/etc/machine-id; sysprep on Windows), and its overlay made again (on Windows "           \
        "winjoin reset, then winjoin join); where flannel took an adapter that is alike on "       \
        "all machines, name another one (--iface)",                                                \
        "flannel-io/flannel#764"
static const struct cluster_row rows[] = {
    {.kind = READ_ON_NODE,
     .titles[NODE] = {"CL-GONE", "every flow of the node",
                      "the node, its kubelet, its network or its pod went away while it was asked",
                      "kubectl describe node NAME tells whether it is down, drained or started "
                      "again; when it is Ready again, run this again",
                      "kubernetes.io: Nodes, heartbeats"},
     WITHOUT_POD,
     .says = SAYS_GONE,
     .cuts_off = true},
    {.kind = READ_ON_NODE,
     .titles[NODE] = {"CL-NOTREADY", "every flow of the node",
                      "the node is not Ready, so nothing was tested there",
                      "kubectl describe node NAME tells why; then run this again", NULL},
     WITHOUT_POD,
     .says = SAYS_NOT_READY},
    {.kind = READ_ON_NODE,
     .titles[NODE] =
         {"CL-PRESSURE", "every pod of the node",
          "the node evicts pods: its disk, memory or processes run short",
          "kubectl describe node NAME shows which: DiskPressure, MemoryPressure or PIDPressure; "
          "make room there (old images and logs fill a disk), or move pods away",
          "kubernetes.io: Node-pressure Eviction"},
     WITHOUT_POD,
     .says = SAYS_EVICTED},
    {.kind = READ_ON_NODE,
     .titles[NODE] = {"CL-NOPOD", "every flow of the node's pods", "no probe pod starts there",
                      "an image that cannot be fetched: --image names a mirror; a network that is "
                      "not made: winjoin status on that node",
                      "kubernetes-sigs/sig-windows-tools#103"},
     WITHOUT_POD,
     .says = SAYS_NO_POD},
    {.kind = READ_ON_NODE,
     .titles[IN] = {"CL-SUBNET", "connections to the node's pods from other nodes",
                    "pods of another node have the same addresses",
                    "kubectl get nodes -o custom-columns=NAME:.metadata.name,SUBNET:.spec.podCIDR "
                    "shows them; delete one of the two Nodes and join it again",
                    "flannel-io/flannel#1549"},
     .says = SAYS_TWIN_PODS,
     .unfit = NAMED_LAST,
     .confirmed = true,
     .follows = {PODS | BY_SERVICE},
     .follows_to_node = true},
    {.kind = READ_ON_NODE,
     .titles[NODE] = {TWINS},
     .says = SAYS_TWIN_OVERLAY,
     .unfit = NAMED_LAST,
     .confirmed = true,
     .follows = {PODS | BY_SERVICE},
     .follows_to_node = true},
    {.kind = READ_ON_NODE,
     .titles[NODE] = {TWINS},
     .says = SAYS_TWIN,
     .unfit = NAMED_LAST,
     .follows = {PODS | BY_SERVICE},
     .follows_to_node = true},
    {.kind = PATTERN,
     .titles[IN] = {"CL-SUBNET", "every connection to the node's pods from other nodes",
                    "pods of another node answer for the pods there",
                    "two nodes have the same pod subnet, or a route leads to the wrong one: "
                    "kubectl get nodes -o custom-columns=NAME:.metadata.name,SUBNET:.spec.podCIDR",
                    NULL},
     .titles[NODE] = {WRONG},
     .confirmed = true,
     .breaks = {PODS, .fits = IS_GREEN | IS_ASTRAY},
     .follows = {ANY_FLOW & ~NODE_PORTS, .fits = IS_ASTRAY}},
    {.kind = PATTERN,
     .titles[NODE] = {WRONG},
     .confirmed = true,
     .breaks = {SERVICES, .fits = IS_GREEN | IS_ASTRAY},
     .follows = {ANY_FLOW & ~NODE_PORTS, .fits = IS_ASTRAY}},
    {.kind = PATTERN,
     .titles[NODE] = {WRONG},
     .confirmed = true,
     .breaks = {BY_NAME, .fits = IS_GREEN | IS_ASTRAY}},
    {.kind = LOSS,
     .titles[NODE] = {WRONG},
     .loss = LOSES_SOME,
     .confirmed = true,
     .breaks = {SERVICES, ONLY_TCP, IS_GREEN | IS_ASTRAY},
     .follows = {ANY_FLOW, .fits = IS_LOSSY_ASTRAY},
     .follows_to_node = true},
    {.kind = READ_ON_NODE,
     .titles[NODE] = {"CL-API-POD", "webhooks, aggregated APIs, kubectl port-forward to pods",
                      "the API server does not reach pods there by their address",
                      "give the control plane's machines a route to the pod network (its CNI agent "
                      "runs there, too), or let webhooks use the host network",
                      NULL},
     .says = SAYS_UNREACHED,
     .confirmed = true,
     .follows = {ANY_FLOW, .fits = IS_NOT_RUN}},
    {.kind = PATTERN,
     .titles[ALL] = {"CL-NONE", "between pods of different nodes",
                     "no pod reaches a pod of another node",
                     "look for what drops the pod network between the nodes: UDP 4789 (VXLAN) "
                     "closed by a firewall or used by the hypervisor; the CNI agent not running",
                     "flannel-io/flannel#1279, rancher/rke2#6307"},
     .titles[SYSTEMS] =
         {"CL-SYSTEMS", "between nodes of two operating systems, one direction",
          "no pod of these nodes reaches pods of those",
          "compare the backend of both systems (VXLAN: VNI 4096 and port 4789 on Linux nodes, too) "
          "and tx-checksum-ip-generic of the Linux nodes' VXLAN device (ethtool -K DEVICE)",
          "flannel-io/flannel#1282, rancher/rke2#6307"},
     .titles[KINDS] =
         {"CL-KINDS", "between nodes of two kinds, one direction",
          "no pod of these nodes reaches pods of those",
          "compare the settings of the network, and the updates of Windows, of both kinds",
          "microsoft/Windows-Containers#204"},
     .titles[NODE] =
         {"CL-NODE", "every flow to and from the node's pods",
          "pods there reach no pod of another node, and are not reached",
          ON_NODE
          "; kubectl get node NAME -o yaml shows its pod subnet and its agent's annotations",
          "kubernetes-sigs/sig-windows-tools#92"},
     .titles[OUT] = {"CL-NODE-OUT", "every flow from the node's pods",
                     "pods there reach no pod of another node",
                     ON_NODE "; look for a policy or firewall that blocks what leaves it", NULL},
     .titles[IN] = {"CL-NODE-IN", "every flow to the node's pods",
                    "no pod of another node reaches pods there",
                    ON_NODE "; look for a policy or firewall that blocks what enters it", NULL},
     .titles[PAIR] = {"CL-PAIR", "from one node's pods to another's",
                      "pods of the first do not reach pods of the other",
                      "compare on both nodes the route to the other's pod subnet, or the peer's "
                      "VTEP; restart the CNI agent on both",
                      "flannel-io/flannel#1394"},
     .breaks = {PODS},
     .follows = {ANY_FLOW},
     .cuts_off = true,
     .pattern = {.least = 2}},
    {.kind = PATTERN,
     .titles[ALL] = {"CL-UDP", "UDP between pods", UDP_ALONE, TCP_ONLY, NULL},
     .titles[SYSTEMS] = {"CL-UDP-SYSTEMS",
                         "UDP between nodes of two operating systems, one direction",
                         UDP_ALONE " from these nodes' pods to those", CHECKSUMS,
                         "flannel-io/flannel#1282"},
     .titles[NODE] = {"CL-UDP-NODE", "UDP to and from the node's pods", UDP_ALONE " there", NULL,
                      NULL},
     .titles[PAIR] = {"CL-UDP-PAIR", "UDP from one node's pods to another's",
                      UDP_ALONE " between them", NULL, NULL},
     .breaks = {PODS, ONLY_UDP},
     .spares = {PODS, ONLY_TCP},
     .follows = {ANY_FLOW, .fits = IS_OF_UDP},
     .cuts_off = true},
    {.kind = PATTERN,
     .titles[ALL] = {"CL-TCP", "TCP between pods", TCP_ALONE, TCP_HINT, NULL},
     .titles[SYSTEMS] = {"CL-TCP-SYSTEMS",
                         "TCP between nodes of two operating systems, one direction",
                         TCP_ALONE " from these nodes' pods to those", NULL, NULL},
     .titles[NODE] = {"CL-TCP-NODE", "TCP to and from the node's pods", TCP_ALONE " there", NULL,
                      NULL},
     .titles[PAIR] = {"CL-TCP-PAIR", "TCP from one node's pods to another's",
                      TCP_ALONE " between them", NULL, NULL},
     .breaks = {PODS, ONLY_TCP},
     .spares = {PODS, ONLY_UDP},
     .follows = {ANY_FLOW, ONLY_TCP},
     .cuts_off = true},
    {.kind = PATTERN,
     .titles = {IPV6},
     .breaks = {PODS, ONLY_IPV6},
     .spares = {PODS, ONLY_IPV4},
     .follows = {ANY_FLOW, ONLY_IPV6},
     .follows_to_node = true},
    {.kind = PATTERN,
     .titles = {IPV6},
     .breaks = {SERVICES, ONLY_IPV6},
     .spares = {SERVICES, ONLY_IPV4},
     .follows = {ANY_FLOW, ONLY_IPV6}},
};

const struct cluster_rows cluster_rows_of_pods = {rows, ARRAY_SIZE(rows)};
