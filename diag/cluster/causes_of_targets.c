/* Causes of what fails beyond the pods: nodes, their ports, the kubelets, outside; and a pod's way
 * to itself. */
#include "diag/cluster/cause_row.h"

#define PODS cluster_cell_is_between_pods

static bool is_port(const struct cluster_cell *c) {
    return cluster_cell_is_of(c, "nodeport-remote");
}

static bool is_port_udp(const struct cluster_cell *c) {
    return is_port(c) && c->cell.udp;
}

static bool is_port_tcp(const struct cluster_cell *c) {
    return is_port(c) && !c->cell.udp;
}

static bool is_port_astray(const struct cluster_cell *c) {
    return is_port(c) && cluster_cell_is_astray(c);
}

static bool is_kubelet(const struct cluster_cell *c) {
    return cluster_cell_is_of(c, "pod-to-node");
}

/* Red as it is: whether others of the pair work is no matter. */
static bool is_at_node(const struct cluster_cell *c) {
    return (is_kubelet(c) || is_port(c)) && cluster_cell_is_red(c);
}

static bool is_readiness(const struct cluster_cell *c) {
    return cluster_cell_is_of(c, "node-to-pod");
}

static bool is_outside(const struct cluster_cell *c) {
    return cluster_cell_is_of(c, "pod-to-external-ip");
}

/* By the ExternalName of the Service kubernetes, where that resolves. */
static bool is_api(const struct cluster_cell *c) {
    return cluster_cell_is_of(c, "pod-to-service-fqdn") && text_ends_with(c->cell.to, ":443") &&
           !(cluster_cell_is_red(c) && cluster_cell_has_dns_failed(c));
}

static bool is_beyond(const struct cluster_cell *c) {
    return is_kubelet(c) || is_outside(c) || is_api(c);
}

static bool is_outside_name(const struct cluster_cell *c) {
    return cluster_cell_is_of(c, "pod-to-external-dns");
}

static bool is_hairpin(const struct cluster_cell *c) {
    return cluster_cell_is_of(c, "pod-to-self-via-service");
}

#define NAT_HINT                                                                                   \
    "look at its address translation: OutBoundNAT of its CNI file on Windows, masquerading on "    \
    "Linux"
#define API_HINT                                                                                   \
    "kubectl -n default get endpointslices -l kubernetes.io/service-name=kubernetes lists where "  \
    "it "                                                                                          \
    "leads; look for a firewall or policy between the pods and these addresses"

static const struct cluster_row rows[] = {
    {{"CL-BEYOND", "from the node's pods to nodes, to the API server and outside",
      "pods there reach pods of other nodes, but nothing beyond the pod network", NAT_HINT,
      "kubernetes/kubernetes#86482"},
     FROM,
     .among = is_beyond,
     .spared = is_beyond,
     .beside = ALL,
     .also = is_port,
     .least = 2,
     .many = true},
    {{"CL-API", "clients of the API server in pods", "no pod reaches the API server by its Service",
      API_HINT, NULL},
     ALL,
     .among = is_api,
     .spared = cluster_cell_is_to_service,
     .beside = ALL,
     .least = 2},
    {{"CL-API-NODE", "clients of the API server in the node's pods",
      "pods there do not reach the API server by its Service", API_HINT, NULL},
     FROM,
     .among = is_api,
     .spared = cluster_cell_is_to_service,
     .beside = FROM},
    {{"CL-NODEPORT", "NodePorts of all nodes", "no NodePort answers from another node",
      "check nodePortAddresses of kube-proxy, and that no firewall between the nodes closes the "
      "NodePort range (30000-32767)",
      "kubernetes/kubernetes#73327"},
     ALL,
     .among = is_port,
     .spared = cluster_cell_is_to_service,
     .beside = ALL,
     .least = 3},
    {{"CL-NODEPORT-UDP", "UDP to NodePorts of all nodes",
      "no NodePort answers UDP from another node",
      "let UDP to the NodePort range (30000-32767), too, pass between the nodes: a firewall, or a "
      "cloud's security group, lets TCP pass only",
      NULL},
     ALL,
     .among = is_port_udp,
     .spared = is_port_tcp,
     .beside = ALL,
     .least = 2},
    {{"CL-NODEPORT-TAKEN", "a NodePort of the node", "another program answers at a NodePort there",
      "netstat -ano on a Windows node, ss -ltnp on a Linux node, names the process; move it out of "
      "the NodePort range (30000-32767), then restart kube-proxy there",
      NULL},
     TO,
     .among = is_port_astray,
     .spared = PODS,
     .beside = TO},
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
    {{"CL-TARGET-PAIR", "from one node's pods to the other node itself",
      "pods of the first do not reach the other node: its kubelet's port or its NodePorts",
      "look for a firewall of that node, or a security group, that lets some nodes pass only",
      NULL},
     PAIR,
     .among = is_at_node,
     .spared = PODS,
     .beside = PAIR},
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
      NAT_HINT, "kubernetes/kubernetes#86482"},
     FROM,
     .among = is_outside,
     .spared = is_outside,
     .beside = ALL},
    {{"CL-OUT-NAME", "names outside the cluster", "the name outside does not resolve or answer",
      "check the forward line in the CoreDNS configuration", NULL},
     ALL,
     .among = is_outside_name,
     .spared = cluster_cell_is_by_name,
     .beside = ALL},
    {{"CL-LOCAL", "Services whose traffic policy is Local, on the node",
      "kube-proxy there knows no pod of its own node",
      "compare the name that kube-proxy has for its node (--hostname-override, the computer's "
      "name) "
      "with that of kubectl get nodes, capitals and small letters, too",
      "kubernetes/kubernetes#106640"},
     FROM,
     .among = is_hairpin,
     .spared = cluster_cell_is_to_service,
     .beside = FROM,
     .local = true},
    {{"CL-HAIRPIN", "a pod's own Service", "a pod there does not reach itself by its Service",
      "set loopbackDSR (\"loopbackDSR\": true) in the CNI file of a Windows node; hairpin mode of "
      "a Linux node's bridge",
      "projectcalico/calico#5522"},
     FROM,
     .among = is_hairpin,
     .spared = cluster_cell_is_to_service,
     .beside = FROM},
};

const struct cluster_rows cluster_rows_of_targets = {rows, ARRAY_SIZE(rows)};
