/* The table of a cluster's causes. Each says which cells it breaks and which not; nobody else
 * compares flows for it. */
#include "diag/cluster/causes.h"

#include <string.h>

#include "base/memory.h"
#include "diag/cluster/cause_row.h"
#include "diag/network_report.h"

/* ---- cells ---- */

static bool has_id(const struct cluster_cell *c, const char *id) {
    return text_equal(c->cell.flow->id, id);
}

static bool is_any(const struct cluster_cell *c) {
    (void)c;
    return true;
}

bool cluster_cell_is_between_pods(const struct cluster_cell *c) {
    return has_id(c, "pod-to-pod-ip") && c->from != c->to;
}

static bool is_pods_udp(const struct cluster_cell *c) {
    return cluster_cell_is_between_pods(c) && c->cell.udp;
}

static bool is_pods_tcp(const struct cluster_cell *c) {
    return cluster_cell_is_between_pods(c) && !c->cell.udp;
}

/* TCP's segments are as large as its path lets pass: what works of UDP says nothing. */
static bool is_large(const struct cluster_cell *c) {
    return cluster_cell_is_between_pods(c) &&
           (cluster_cell_is_large_lost(c) || (!c->cell.udp && !cluster_cell_is_red(c)));
}

static bool is_large_lost(const struct cluster_cell *c) {
    return cluster_cell_is_between_pods(c) && cluster_cell_is_large_lost(c);
}

/* TCP sends again what was lost: what works of it says nothing. */
static bool is_chance(const struct cluster_cell *c) {
    return cluster_cell_is_between_pods(c) &&
           (cluster_cell_is_lossy(c) || (c->cell.udp && !cluster_cell_is_red(c)));
}

static bool is_lossy(const struct cluster_cell *c) {
    return cluster_cell_is_between_pods(c) && cluster_cell_is_lossy(c);
}

static bool is_udp(const struct cluster_cell *c) {
    return c->cell.udp;
}

static bool is_six(const struct cluster_cell *c) {
    return c->cell.family == 6;
}

static bool is_service(const struct cluster_cell *c) {
    return has_id(c, "pod-to-service-ip");
}

/* What needs a load balancer or a name of one. */
bool cluster_cell_is_by_service(const struct cluster_cell *c) {
    return strstr(c->cell.flow->id, "-service") || has_id(c, "nodeport-remote") ||
           has_id(c, "pod-to-pod-name");
}

static bool is_short_name(const struct cluster_cell *c) {
    return has_id(c, "pod-to-service-pqdn");
}

static bool is_full_name(const struct cluster_cell *c) {
    return has_id(c, "pod-to-service-fqdn") || has_id(c, "pod-to-pod-name");
}

static bool is_name(const struct cluster_cell *c) {
    return is_short_name(c) || is_full_name(c);
}

static bool no_answer(const struct cluster_cell *c) {
    return !cluster_cell_is_red(c) || c->cell.result.outcome == PROBE_DNS_TIMEOUT ||
           c->cell.result.outcome == PROBE_DNS_SERVFAIL;
}

/* Red for another reason than the DNS: no cell of these rows. */
static bool is_short_unknown(const struct cluster_cell *c) {
    return is_short_name(c) && (no_answer(c) || c->cell.result.outcome == PROBE_DNS_NXDOMAIN);
}

static bool is_unanswered(const struct cluster_cell *c) {
    return is_name(c) && no_answer(c);
}

static bool is_unknown(const struct cluster_cell *c) {
    return is_name(c) && (!cluster_cell_is_red(c) || c->cell.result.outcome == PROBE_DNS_NXDOMAIN);
}

static bool is_port(const struct cluster_cell *c) {
    return has_id(c, "nodeport-remote");
}

static bool is_kubelet(const struct cluster_cell *c) {
    return has_id(c, "pod-to-node");
}

static bool is_readiness(const struct cluster_cell *c) {
    return has_id(c, "node-to-pod");
}

static bool is_outside(const struct cluster_cell *c) {
    return has_id(c, "pod-to-external-ip");
}

static bool is_outside_name(const struct cluster_cell *c) {
    return has_id(c, "pod-to-external-dns");
}

static bool is_hairpin(const struct cluster_cell *c) {
    return has_id(c, "pod-to-self-via-service");
}

static bool is_unasked(const struct cluster_cell *c) {
    return c->cell.outcome == DIAG_NOT_RUN;
}

static bool is_wrong(const struct cluster_cell *c) {
    return c->cell.result.outcome == PROBE_WRONG_RESPONDER && cluster_cell_is_red(c);
}

/* ---- what is read of a node ---- */

static const char *says_not_ready(const struct cluster_node *n) {
    return n->ready ? NULL : n->waiting;
}

static const char *says_no_pod(const struct cluster_node *n) {
    return n->ready ? n->waiting : NULL;
}

static const char *says_unreached(const struct cluster_node *n) {
    return n->unreached;
}

/* ---- what a node has published ---- */

static bool reports_lacks(const struct cluster_node *n) {
    return network_report_lacks(n->own_report);
}

static bool reports_no_dns(const struct cluster_node *n) {
    return network_report_lacks_service(n->own_report, "kube-system/kube-dns");
}

/* ---- the table ---- */

#define PODS cluster_cell_is_between_pods
#define ON_NODE "winjoin diag on that node, where it is a Windows node, names what is missing there"

#define HNS_LACKS                                                                                  \
    "winjoin status on that node names all of it, and the commands; load balancers come back "     \
    "with sc.exe stop kube-proxy, then sc.exe start kube-proxy there"
#define MTU_HINT                                                                                   \
    "set the MTU of the pod network (CNI, flannel) on all nodes below that of the network "        \
    "between them, with VXLAN by 50 or more; or raise that one"
#define MTU_SOURCE "kubernetes/kubernetes#83739, kubernetes-sigs/cluster-api-provider-azure#1335"
#define LOSS_HINT                                                                                  \
    "check the node's network adapter and switch: error counters, driver and load; powershell "    \
    "Get-NetAdapterStatistics on a Windows node"

static const struct cluster_row rows[] = {
    {{"CL-NOTREADY", "every flow of the node", "the node is not Ready, so nothing was tested there",
      "kubectl describe node NAME tells why; then run this again", NULL},
     FROM,
     .says = says_not_ready,
     .among = is_any},
    {{"CL-NOPOD", "every flow of the node's pods", "no probe pod starts there",
      "an image that cannot be fetched: --image names a mirror; a network that is not made: "
      "winjoin status on that node",
      "kubernetes-sigs/sig-windows-tools#103"},
     FROM,
     .says = says_no_pod,
     .among = is_any},
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
     .also = is_any,
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
     .also = is_any,
     .least = 3,
     .behind = true},
    {{"CL-NODE-OUT", "every flow from the node's pods", "pods there reach no pod of another node",
      ON_NODE "; look for a policy or firewall that blocks what leaves it", NULL},
     FROM,
     .among = PODS,
     .spared = PODS,
     .beside = TO,
     .also = is_any,
     .least = 2,
     .behind = true},
    {{"CL-NODE-IN", "every flow to the node's pods", "no pod of another node reaches pods there",
      ON_NODE "; look for a policy or firewall that blocks what enters it", NULL},
     TO,
     .among = PODS,
     .spared = PODS,
     .beside = FROM,
     .also = is_any,
     .least = 2,
     .behind = true},
    {{"CL-UDP", "UDP between pods", "UDP alone does not work",
      "look for a firewall or policy that lets TCP pass only", NULL},
     ALL,
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
    {{"CL-MTU", "large packets between pods of different nodes",
      "short packets arrive, large ones are lost", MTU_HINT, MTU_SOURCE},
     ALL,
     .among = is_large,
     .also = is_large_lost,
     .least = 2,
     .surely = true,
     .partly = true},
    {{"CL-MTU-NODE", "large packets to or from the node's pods",
      "short packets arrive, large ones from or to there are lost", MTU_HINT, MTU_SOURCE},
     NODE,
     .among = is_large,
     .spared = is_large,
     .beside = ALL,
     .also = is_large_lost,
     .least = 2,
     .surely = true,
     .partly = true},
    {{"CL-PAIR", "from one node's pods to another's",
      "pods of the first do not reach pods of the other",
      "compare on both nodes the route to the other's pod subnet, or the peer's VTEP; restart the "
      "CNI agent on both",
      "flannel-io/flannel#1394"},
     PAIR,
     .among = PODS,
     .spared = PODS,
     .beside = ALL,
     .also = is_any,
     .least = 2,
     .behind = true},
    {{"CL-HNS-DNS", "names from the node's pods",
      "HNS there has no load balancer for the cluster's DNS, as the node itself reports", HNS_LACKS,
      "microsoft/Windows-Containers#278"},
     FROM,
     .reports = reports_no_dns,
     .only_red = true,
     .among = is_unanswered,
     .spared = is_service,
     .beside = FROM,
     .dns = true},
    {{"CL-HNS", "Services from the node's pods, or its pods",
      "HNS there lacks what Kubernetes has, as the node itself reports", HNS_LACKS,
      "kubernetes/kubernetes#135802"},
     FROM,
     .reports = reports_lacks,
     .among = is_service,
     .spared = PODS,
     .beside = FROM,
     .also = cluster_cell_is_by_service,
     .touching = true},
    {{"CL-MTU-PAIR", "large packets from one node's pods to another's, or back",
      "short packets arrive, large ones are lost there or on the way back",
      "compare the MTU of both nodes' adapters, and of what is between them; then " MTU_HINT,
      MTU_SOURCE},
     PAIR,
     .among = is_large_lost,
     .surely = true,
     .partly = true},
    {{"CL-SVC", "Services, names", "no pod reaches a Service by its cluster IP",
      "kubectl -n kube-system get pods -l k8s-app=kube-proxy; compare the Service range with the "
      "API server's",
      "kubernetes/kubernetes#135802"},
     ALL,
     .among = is_service,
     .spared = PODS,
     .beside = ALL,
     .also = cluster_cell_is_by_service,
     .least = 2,
     .whole = true},
    {{"CL-SVC-NODE", "Services from the node's pods",
      "pods there reach other pods, but no Service by its cluster IP",
      "look at kube-proxy on that node: winjoin logs kube-proxy on a Windows node",
      "kubernetes/kubernetes#135802"},
     FROM,
     .among = is_service,
     .spared = PODS,
     .beside = ALL,
     .also = cluster_cell_is_by_service,
     .whole = true,
     .touching = true},
    {{"CL-DNS", "names", "the cluster's DNS answers no pod",
      "kubectl -n kube-system get pods -l k8s-app=kube-dns -o wide; then look at the nodes where "
      "they run",
      "kubernetes/kubernetes#111323"},
     ALL,
     .among = is_unanswered,
     .spared = is_service,
     .beside = ALL,
     .least = 2},
    {{"CL-DNS-UNKNOWN", "names", "the cluster's DNS does not know names of the cluster",
      "kubectl -n kube-system logs -l k8s-app=kube-dns; compare the domain in its Corefile with "
      "clusterDomain of the kubelets",
      NULL},
     ALL,
     .among = is_unknown,
     .spared = is_service,
     .beside = ALL,
     .least = 2},
    {{"CL-DNS-NODE", "names from the node's pods",
      "pods there get no answer from the cluster's DNS",
      "compare the DNS servers inside its pods with the Service kube-dns (clusterDNS of its "
      "kubelet), and check the route from there to the DNS pods",
      NULL},
     FROM,
     .among = is_unanswered,
     .spared = is_service,
     .beside = FROM,
     .least = 2,
     .dns = true},
    {{"CL-DNS-SHORT", "short names from the node's pods",
      "pods there resolve full names, but no short ones",
      "compare the DNS suffixes inside its pods with NAMESPACE.svc and the cluster's domain: "
      "clusterDomain of its kubelet, \"dns\" of its CNI file",
      "kubernetes/kubernetes#65016"},
     FROM,
     .among = is_short_unknown,
     .spared = is_full_name,
     .beside = FROM,
     .dns = true},
    {{"CL-NODEPORT", "NodePorts of all nodes", "no NodePort answers from another node",
      "check nodePortAddresses of kube-proxy, and that no firewall between the nodes closes the "
      "NodePort range (30000-32767)",
      "kubernetes/kubernetes#73327"},
     ALL,
     .among = is_port,
     .spared = is_service,
     .beside = ALL,
     .least = 3},
    {{"CL-NODEPORT-NODE", "NodePorts of the node", "a NodePort there answers no other node",
      "open the range of NodePorts in its firewall (30000-32767); look at kube-proxy there",
      "kubernetes/kubernetes#74550"},
     TO,
     .among = is_port,
     .spared = PODS,
     .beside = TO},
    {{"CL-KUBELET", "kubectl logs and exec, metrics",
      "the kubelet's port 10250 does not answer pods",
      "open TCP 10250 in that node's firewall: winjoin join phase vswitch does so on a Windows "
      "node",
      NULL},
     TO,
     .among = is_kubelet,
     .spared = PODS,
     .beside = TO},
    {{"CL-READY", "readiness and liveness probes of the node's pods",
      "the kubelet does not reach its own pods, other nodes' pods do",
      "look at the node's own address in the pod network and its host firewall", NULL},
     FROM,
     .among = is_readiness,
     .spared = PODS,
     .beside = TO},
    {{"CL-OUT", "targets outside the cluster", "no pod reaches the target outside",
      "check whether a node reaches it itself, and whether the nodes' network has a route to it",
      NULL},
     ALL,
     .among = is_outside,
     .spared = PODS,
     .beside = ALL,
     .least = 2},
    {{"CL-OUT-NODE", "targets outside, from the node's pods", "pods there do not get outside",
      "look at its address translation: OutBoundNAT of its CNI file on Windows, masquerading on "
      "Linux",
      "kubernetes/kubernetes#86482"},
     FROM,
     .among = is_outside,
     .spared = is_outside,
     .beside = ALL},
    {{"CL-OUT-NAME", "names outside the cluster", "the name outside does not resolve or answer",
      "check the forward line in the CoreDNS configuration", NULL},
     ALL,
     .among = is_outside_name,
     .spared = is_name,
     .beside = ALL},
    {{"CL-HAIRPIN", "a pod's own Service", "a pod there does not reach itself by its Service",
      "set loopbackDSR (\"loopbackDSR\": true) in the CNI file of a Windows node; hairpin mode of "
      "a Linux node's bridge",
      "projectcalico/calico#5522"},
     FROM,
     .among = is_hairpin,
     .spared = is_service,
     .beside = FROM},
    {{"CL-LOSS", "some packets between pods of different nodes", "some packets are lost by chance",
      "check the network between the nodes: load, and error counters of its switches", NULL},
     ALL,
     .among = is_chance,
     .also = cluster_cell_is_lossy,
     .least = 2,
     .surely = true,
     .partly = true},
    {{"CL-LOSS-NODE", "some packets to and from the node's pods",
      "some packets from and to there are lost by chance", LOSS_HINT, NULL},
     NODE,
     .among = is_chance,
     .spared = is_chance,
     .beside = ALL,
     .also = cluster_cell_is_lossy,
     .least = 2,
     .touching = true,
     .surely = true,
     .partly = true},
    {{"CL-LOSS-PAIR", "some packets between two nodes' pods", "some packets are lost by chance",
      "with --count 100 the share is exact; " LOSS_HINT, NULL},
     PAIR,
     .among = is_lossy,
     .surely = true,
     .partly = true},
};

const struct cluster_row *cluster_row(size_t i) {
    return i < ARRAY_SIZE(rows) ? &rows[i] : NULL;
}

const struct diag_cause_row *cluster_cause_row(size_t i) {
    return cluster_row(i) ? &rows[i].told : NULL;
}
