/* Causes of what fails between pods: nodes, their kinds, pairs, and a protocol or family alone. */
#include "diag/cluster/cause_row.h"

#define PODS cluster_cell_is_between_pods

static bool is_pods_udp(const struct cluster_cell *c) {
    return cluster_cell_is_between_pods(c) && c->cell.udp;
}

static bool is_pods_tcp(const struct cluster_cell *c) {
    return cluster_cell_is_between_pods(c) && !c->cell.udp;
}

static bool is_udp(const struct cluster_cell *c) {
    return c->cell.udp;
}

static bool is_six(const struct cluster_cell *c) {
    return c->cell.family == 6;
}

static bool is_pods_six(const struct cluster_cell *c) {
    return cluster_cell_is_between_pods(c) && is_six(c);
}

static bool is_unasked(const struct cluster_cell *c) {
    return c->cell.outcome == DIAG_NOT_RUN;
}

static bool is_wrong(const struct cluster_cell *c) {
    return cluster_cell_is_astray(c) && !cluster_cell_is_of(c, "nodeport-remote");
}

static bool is_astray(const struct cluster_cell *c) {
    return cluster_cell_is_between_pods(c) && (!cluster_cell_is_red(c) || is_wrong(c));
}

static const char *says_not_ready(const struct cluster_node *n) {
    return n->ready ? NULL : n->waiting;
}

static const char *says_no_pod(const struct cluster_node *n) {
    return n->ready ? n->waiting : NULL;
}

static const char *says_unreached(const struct cluster_node *n) {
    return n->unreached;
}

#define ON_NODE "winjoin diag on that node, where it is a Windows node, names what is missing there"

static const struct cluster_row rows[] = {
    {{"CL-NOTREADY", "every flow of the node", "the node is not Ready, so nothing was tested there",
      "kubectl describe node NAME tells why; then run this again", NULL},
     FROM,
     .says = says_not_ready,
     .among = cluster_cell_is_any},
    {{"CL-NOPOD", "every flow of the node's pods", "no probe pod starts there",
      "an image that cannot be fetched: --image names a mirror; a network that is not made: "
      "winjoin status on that node",
      "kubernetes-sigs/sig-windows-tools#103"},
     FROM,
     .says = says_no_pod,
     .among = cluster_cell_is_any},
    {{"CL-SUBNET", "every connection to the node's pods from other nodes",
      "pods of another node answer for the pods there",
      "two nodes have the same pod subnet, or a route leads to the wrong one: kubectl get nodes -o "
      "custom-columns=NAME:.metadata.name,SUBNET:.spec.podCIDR",
      NULL},
     TO,
     .among = is_astray,
     .many = true,
     .surely = true},
    {{"CL-WRONG", "connections to an address that another pod has now",
      "another pod answers than the one that has the address",
      "restart kube-proxy on the nodes that ask: a stale endpoint or load balancer sends them "
      "there",
      "kubernetes/kubernetes#110674"},
     FROM,
     .among = is_wrong,
     .surely = true},
    {{"CL-API-POD", "webhooks, aggregated APIs, kubectl port-forward to pods",
      "the API server does not reach pods there by their address",
      "give the control plane's machines a route to the pod network (its CNI agent runs there, "
      "too), or let webhooks use the host network",
      NULL},
     FROM,
     .says = says_unreached,
     .among = is_unasked},
    {{"CL-NONE", "between pods of different nodes", "no pod reaches a pod of another node",
      "look for what drops the pod network between the nodes: UDP 4789 (VXLAN) closed by a "
      "firewall or used by the hypervisor; the CNI agent not running",
      "flannel-io/flannel#1279, rancher/rke2#6307"},
     ALL,
     .among = PODS,
     .also = cluster_cell_is_any,
     .least = 3,
     .behind = true},
    {{"CL-SYSTEMS", "between nodes of two operating systems, one direction",
      "no pod of these nodes reaches pods of those",
      "compare the backend of both systems (VXLAN: VNI 4096 and port 4789 on Linux nodes, too) and "
      "tx-checksum-ip-generic of the Linux nodes' VXLAN device (ethtool -K DEVICE)",
      "flannel-io/flannel#1282, rancher/rke2#6307"},
     SYSTEMS,
     .among = PODS,
     .spared = PODS,
     .beside = ALL,
     .least = 2,
     .behind = true},
    {{"CL-KINDS", "between nodes of two kinds, one direction",
      "no pod of these nodes reaches pods of those",
      "compare the settings of the network, and the updates of Windows, of both kinds",
      "microsoft/Windows-Containers#204"},
     KINDS,
     .among = PODS,
     .spared = PODS,
     .beside = ALL,
     .least = 2,
     .behind = true},
    {{"CL-NODE", "every flow to and from the node's pods",
      "pods there reach no pod of another node, and are not reached",
      ON_NODE "; kubectl get node NAME -o yaml shows its pod subnet and its agent's annotations",
      "kubernetes-sigs/sig-windows-tools#92"},
     NODE,
     .among = PODS,
     .spared = PODS,
     .beside = ALL,
     .also = cluster_cell_is_any,
     .least = 3,
     .behind = true},
    {{"CL-NODE-OUT", "every flow from the node's pods", "pods there reach no pod of another node",
      ON_NODE "; look for a policy or firewall that blocks what leaves it", NULL},
     FROM,
     .among = PODS,
     .spared = PODS,
     .beside = TO,
     .also = cluster_cell_is_any,
     .least = 2,
     .many = true,
     .behind = true},
    {{"CL-NODE-IN", "every flow to the node's pods", "no pod of another node reaches pods there",
      ON_NODE "; look for a policy or firewall that blocks what enters it", NULL},
     TO,
     .among = PODS,
     .spared = PODS,
     .beside = FROM,
     .also = cluster_cell_is_any,
     .least = 2,
     .many = true,
     .behind = true},
    {{"CL-UDP", "UDP between pods", "UDP alone does not work",
      "look for a firewall or policy that lets TCP pass only", NULL},
     ALL,
     .among = is_pods_udp,
     .spared = is_pods_tcp,
     .beside = ALL,
     .also = is_udp,
     .least = 2},
    {{"CL-UDP-SYSTEMS", "UDP between nodes of two operating systems, one direction",
      "UDP alone does not work from these nodes' pods to those",
      "switch off tx-checksum-ip-generic of the VXLAN device on the Linux nodes (ethtool -K DEVICE "
      "tx-checksum-ip-generic off); look for a firewall that lets TCP pass only",
      "flannel-io/flannel#1282"},
     SYSTEMS,
     .among = is_pods_udp,
     .spared = is_pods_tcp,
     .beside = ALL,
     .also = is_udp,
     .least = 2},
    {{"CL-UDP-NODE", "UDP to and from the node's pods", "UDP alone does not work there",
      "look for a firewall or policy on that node that lets TCP pass only", NULL},
     NODE,
     .among = is_pods_udp,
     .spared = is_pods_tcp,
     .beside = NODE,
     .also = is_udp,
     .least = 2},
    {{"CL-IPV6", "IPv6", "IPv6 alone does not work",
      "compare the dual-stack settings of the CNI agent; an overlay of Windows nodes has no IPv6",
      "kubernetes.io: IPv4/IPv6 dual-stack, Windows"},
     ALL,
     .among = is_six,
     .spared = PODS,
     .beside = ALL,
     .least = 2},
    {{"CL-IPV6-NODE", "IPv6 to the node's pods", "IPv6 alone does not reach pods there",
      "compare the IPv6 pod subnet, routes and firewall of that node with those of another: "
      "powershell Get-NetRoute -AddressFamily IPv6 on a Windows node, ip -6 route on a Linux node",
      NULL},
     TO,
     .among = is_pods_six,
     .spared = PODS,
     .beside = TO,
     .also = is_six,
     .touching = true,
     .many = true},
    {{"CL-PAIR", "from one node's pods to another's",
      "pods of the first do not reach pods of the other",
      "compare on both nodes the route to the other's pod subnet, or the peer's VTEP; restart the "
      "CNI agent on both",
      "flannel-io/flannel#1394"},
     PAIR,
     .among = PODS,
     .spared = PODS,
     .beside = ALL,
     .also = cluster_cell_is_any,
     .least = 2,
     .behind = true},
    {{"CL-UDP-PAIR", "UDP from one node's pods to another's",
      "UDP alone does not work between them",
      "look for a firewall or policy between both nodes that lets TCP pass only", NULL},
     PAIR,
     .among = is_pods_udp,
     .spared = is_pods_tcp,
     .beside = PAIR,
     .also = is_udp},
};

const struct cluster_rows cluster_rows_of_pods = {rows, ARRAY_SIZE(rows)};
