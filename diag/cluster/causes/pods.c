/* Causes of what fails between pods: nodes, their kinds, pairs, and a protocol or family alone. */
#include "diag/cluster/causes/cause_row.h"
#include "diag/cluster/probes/asking.h"
#include "diag/cluster/cluster.h"

static bool is_pods_udp(const struct diag_cell *c) {
    return cluster_cell_is_between_pods(c) && c->udp;
}

/* The DNS is asked by UDP. */
static bool is_udp(const struct diag_cell *c) {
    return c->udp || cluster_cell_has_dns_failed(c);
}

static bool is_tcp(const struct diag_cell *c) {
    return !c->udp;
}

static bool is_six(const struct diag_cell *c) {
    return c->family == 6;
}

static bool is_pods_six(const struct diag_cell *c) {
    return cluster_cell_is_between_pods(c) && is_six(c);
}

static bool is_pods_four(const struct diag_cell *c) {
    return cluster_cell_is_between_pods(c) && !is_six(c);
}

static bool is_service_six(const struct diag_cell *c) {
    return cluster_cell_is_to_service(c) && is_six(c);
}

static bool is_service_four(const struct diag_cell *c) {
    return cluster_cell_is_to_service(c) && !is_six(c);
}

/* Green, or answered by another pod. */
static bool is_right_or_astray(const struct diag_cell *c) {
    return !diag_cell_is_open(c) || cluster_cell_is_astray(c);
}

static bool is_pod_astray(const struct diag_cell *c) {
    return cluster_cell_is_between_pods(c) && is_right_or_astray(c);
}

static bool is_service_astray(const struct diag_cell *c) {
    return cluster_cell_is_to_service(c) && is_right_or_astray(c);
}

static bool is_name_astray(const struct diag_cell *c) {
    return cluster_cell_is_by_name(c) && is_right_or_astray(c);
}

static bool is_wrong(const struct diag_cell *c) {
    return cluster_cell_is_astray(c) && !cluster_cell_is_to_port(c);
}

/* Of a Service: one of several pods is another's. */
static bool is_service_sometimes(const struct diag_cell *c) {
    return cluster_cell_is_to_service(c) && !c->udp && is_right_or_astray(c);
}

static bool is_sometimes_astray(const struct diag_cell *c) {
    return cluster_cell_is_lossy(c) && cluster_cell_is_astray(c);
}

static const char *says_gone(const struct cluster_node *n) {
    return n->waiting && text_starts_with(n->waiting, CLUSTER_GONE) ? n->waiting : NULL;
}

static const char *says_not_ready(const struct cluster_node *n) {
    return n->ready || says_gone(n) ? NULL : n->waiting;
}

static const char *says_evicted(const struct cluster_node *n) {
    return n->ready && n->waiting && strstr(n->waiting, "Evicted") ? n->waiting : NULL;
}

static const char *says_no_pod(const struct cluster_node *n) {
    return n->ready && !says_gone(n) && !says_evicted(n) ? n->waiting : NULL;
}

static bool has_pods_of_another(const struct cluster_node *n) {
    return n->twin && (text_starts_with(n->twin, CLUSTER_TWIN_SUBNET) ||
                       text_starts_with(n->twin, CLUSTER_TWIN_POD));
}

static const char *says_twin_subnet(const struct cluster_node *n) {
    return has_pods_of_another(n) ? n->twin : NULL;
}

static const char *says_twin_overlay(const struct cluster_node *n) {
    return n->twin && text_starts_with(n->twin, CLUSTER_TWIN_OVERLAY) ? n->twin : NULL;
}

static const char *says_twin(const struct cluster_node *n) {
    return has_pods_of_another(n) || says_twin_overlay(n) ? NULL : n->twin;
}

/* Where packets for one node's pods may come to another. */
static bool is_to_pods(const struct diag_cell *c) {
    return cluster_cell_is_between_pods(c) || cluster_cell_is_by_service(c);
}

static const char *says_unreached(const struct cluster_node *n) {
    return n->waiting ? NULL : n->unreached;
}

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
    {                                                                                              \
        "CL-WRONG", "connections to an address that another pod has now",                          \
            "another pod answers than the one that has the address",                               \
            "restart kube-proxy on the nodes that ask: a stale endpoint or load balancer sends "   \
            "them "                                                                                \
            "there",                                                                               \
            "kubernetes/kubernetes#110674"                                                         \
    }
/* What others ask of a pod that is gone meanwhile fails, too. */
#define WITHOUT_POD .among = cluster_cell_is_any, .also = cluster_cell_is_any, .touching = true
#define IPV6                                                                                       \
    [ALL] = {"CL-IPV6", "IPv6", "IPv6 alone does not work",                                        \
             "compare the dual-stack settings of the CNI agent; an overlay of Windows nodes has "  \
             "no IPv6",                                                                            \
             "kubernetes.io: IPv4/IPv6 dual-stack, Windows"},                                      \
    [NODE] = {"CL-IPV6-NODE", "IPv6 to or from the node's pods", NULL,                             \
              "compare the IPv6 pod subnet, routes and firewall of that node with those of "       \
              "another: powershell Get-NetRoute -AddressFamily IPv6 on a Windows node, ip -6 "     \
              "route on a Linux node",                                                             \
              NULL}

#define TWINS                                                                                      \
    {                                                                                              \
        "CL-TWINS", "connections from and to the node's pods",                                     \
            "another Node has the same address, address or MAC address of flannel, or machine ID", \
            "a machine that was cloned needs an address and a machine ID of its own "              \
            "(/etc/machine-id; sysprep on Windows), and its overlay made again (on Windows "       \
            "winjoin reset, then winjoin join); where flannel took an adapter that is alike on "   \
            "all machines, name another one (--iface)",                                            \
            "flannel-io/flannel#764"                                                               \
    }
static const struct cluster_row rows[] = {
    {{[NODE] = {"CL-GONE", "every flow of the node",
                "the node, its kubelet, its network or its pod went away while it was asked",
                "kubectl describe node NAME tells whether it is down, drained or started again; "
                "when it is Ready again, run this again",
                "kubernetes.io: Nodes, heartbeats"}},
     .says = says_gone,
     WITHOUT_POD,
     .behind = true},
    {{[NODE] = {"CL-NOTREADY", "every flow of the node",
                "the node is not Ready, so nothing was tested there",
                "kubectl describe node NAME tells why; then run this again", NULL}},
     .says = says_not_ready,
     WITHOUT_POD},
    {{[NODE] = {"CL-PRESSURE", "every pod of the node",
                "the node evicts pods: its disk, memory or processes run short",
                "kubectl describe node NAME shows which: DiskPressure, MemoryPressure or "
                "PIDPressure; make room there (old images and logs fill a disk), or move pods "
                "away",
                "kubernetes.io: Node-pressure Eviction"}},
     .says = says_evicted,
     WITHOUT_POD},
    {{[NODE] = {"CL-NOPOD", "every flow of the node's pods", "no probe pod starts there",
                "an image that cannot be fetched: --image names a mirror; a network that is not "
                "made: winjoin status on that node",
                "kubernetes-sigs/sig-windows-tools#103"}},
     .says = says_no_pod,
     WITHOUT_POD},
    {{[IN] = {"CL-SUBNET", "connections to the node's pods from other nodes",
              "pods of another node have the same addresses",
              "kubectl get nodes -o custom-columns=NAME:.metadata.name,SUBNET:.spec.podCIDR shows "
              "them; delete one of the two Nodes and join it again",
              "flannel-io/flannel#1549"}},
     .says = says_twin_subnet,
     .also = is_to_pods,
     .touching = true,
     .fits = true},
    {{[NODE] = TWINS},
     .says = says_twin_overlay,
     .also = is_to_pods,
     .touching = true,
     .fits = true},
    {{[NODE] = TWINS},
     .says = says_twin,
     .also = is_to_pods,
     .touching = true,
     .fits = true,
     .aside = true},
    {{[IN] = {"CL-SUBNET", "every connection to the node's pods from other nodes",
              "pods of another node answer for the pods there",
              "two nodes have the same pod subnet, or a route leads to the wrong one: kubectl get "
              "nodes -o custom-columns=NAME:.metadata.name,SUBNET:.spec.podCIDR",
              NULL},
      [NODE] = WRONG},
     .among = is_pod_astray,
     .also = is_wrong,
     .surely = true},
    {{[NODE] = WRONG}, .among = is_service_astray, .also = is_wrong, .surely = true},
    {{[NODE] = WRONG}, .among = is_name_astray, .surely = true},
    {{[NODE] = WRONG},
     .among = is_service_sometimes,
     .also = is_sometimes_astray,
     .touching = true,
     .chance = true,
     .surely = true,
     .partly = true},
    {{[NODE] = {"CL-API-POD", "webhooks, aggregated APIs, kubectl port-forward to pods",
                "the API server does not reach pods there by their address",
                "give the control plane's machines a route to the pod network (its CNI agent runs "
                "there, too), or let webhooks use the host network",
                NULL}},
     .says = says_unreached,
     .among = cluster_cell_is_unasked},
    {{[ALL] = {"CL-NONE", "between pods of different nodes", "no pod reaches a pod of another node",
               "look for what drops the pod network between the nodes: UDP 4789 (VXLAN) closed by "
               "a firewall or used by the hypervisor; the CNI agent not running",
               "flannel-io/flannel#1279, rancher/rke2#6307"},
      [SYSTEMS] = {"CL-SYSTEMS", "between nodes of two operating systems, one direction",
                   "no pod of these nodes reaches pods of those",
                   "compare the backend of both systems (VXLAN: VNI 4096 and port 4789 on Linux "
                   "nodes, too) and tx-checksum-ip-generic of the Linux nodes' VXLAN device "
                   "(ethtool -K DEVICE)",
                   "flannel-io/flannel#1282, rancher/rke2#6307"},
      [KINDS] = {"CL-KINDS", "between nodes of two kinds, one direction",
                 "no pod of these nodes reaches pods of those",
                 "compare the settings of the network, and the updates of Windows, of both kinds",
                 "microsoft/Windows-Containers#204"},
      [NODE] = {"CL-NODE", "every flow to and from the node's pods",
                "pods there reach no pod of another node, and are not reached",
                ON_NODE "; kubectl get node NAME -o yaml shows its pod subnet and its agent's "
                        "annotations",
                "kubernetes-sigs/sig-windows-tools#92"},
      [OUT] = {"CL-NODE-OUT", "every flow from the node's pods",
               "pods there reach no pod of another node",
               ON_NODE "; look for a policy or firewall that blocks what leaves it", NULL},
      [IN] = {"CL-NODE-IN", "every flow to the node's pods",
              "no pod of another node reaches pods there",
              ON_NODE "; look for a policy or firewall that blocks what enters it", NULL},
      [PAIR] = {"CL-PAIR", "from one node's pods to another's",
                "pods of the first do not reach pods of the other",
                "compare on both nodes the route to the other's pod subnet, or the peer's VTEP; "
                "restart the CNI agent on both",
                "flannel-io/flannel#1394"}},
     .among = cluster_cell_is_between_pods,
     .also = cluster_cell_is_any,
     .least = 2,
     .behind = true},
    {{[ALL] = {"CL-UDP", "UDP between pods", UDP_ALONE, TCP_ONLY, NULL},
      [SYSTEMS] = {"CL-UDP-SYSTEMS", "UDP between nodes of two operating systems, one direction",
                   UDP_ALONE " from these nodes' pods to those", CHECKSUMS,
                   "flannel-io/flannel#1282"},
      [NODE] = {"CL-UDP-NODE", "UDP to and from the node's pods", UDP_ALONE " there", NULL, NULL},
      [PAIR] = {"CL-UDP-PAIR", "UDP from one node's pods to another's", UDP_ALONE " between them",
                NULL, NULL}},
     .among = is_pods_udp,
     .spared = cluster_cell_is_pods_tcp,
     .also = is_udp,
     .behind = true},
    {{[ALL] = {"CL-TCP", "TCP between pods", TCP_ALONE, TCP_HINT, NULL},
      [SYSTEMS] = {"CL-TCP-SYSTEMS", "TCP between nodes of two operating systems, one direction",
                   TCP_ALONE " from these nodes' pods to those", NULL, NULL},
      [NODE] = {"CL-TCP-NODE", "TCP to and from the node's pods", TCP_ALONE " there", NULL, NULL},
      [PAIR] = {"CL-TCP-PAIR", "TCP from one node's pods to another's", TCP_ALONE " between them",
                NULL, NULL}},
     .among = cluster_cell_is_pods_tcp,
     .spared = is_pods_udp,
     .also = is_tcp,
     .behind = true},
    {{IPV6}, .among = is_pods_six, .spared = is_pods_four, .also = is_six, .touching = true},
    {{IPV6}, .among = is_service_six, .spared = is_service_four, .also = is_six},
};

const struct cluster_rows cluster_rows_of_pods = {rows, ARRAY_SIZE(rows)};
