/* Finds causes of failures beyond the pods: nodes, their NodePorts, the kubelets, targets outside;
 * and a pod's route to itself. */
#include "diag/cluster/causes/cluster_cause_rows.h"

#define NAT_HINT                                                                                   \
    "look at its address translation: OutBoundNAT of its CNI file on Windows, masquerading on "    \
    "Linux"
#define API_HINT                                                                                   \
    "kubectl -n default get endpointslices -l kubernetes.io/service-name=kubernetes lists where "  \
    "it leads; look for a firewall or policy between the pods and these addresses"

#define TARGET_PAIR                                                                                \
    "CL-TARGET-PAIR", "from one node's pods to the other node itself",                             \
        "pods of the first do not reach the other node: its kubelet's port or its NodePorts",      \
        "look for a firewall of that node, or a security group, that lets some nodes pass "        \
        "only",                                                                                    \
        NULL
/* As TARGET_PAIR, for one node that does not reach several targets. */
#define TARGET_OUT                                                                                 \
    "CL-TARGET-PAIR", "from the node's pods to other nodes themselves",                            \
        "pods there do not reach other nodes: their kubelets' ports or their NodePorts",           \
        "look for a firewall of that node, or a security group, that lets some targets pass "      \
        "only",                                                                                    \
        NULL
#define NODEPORT_NODE                                                                              \
    "CL-NODEPORT-NODE", "NodePorts of the node", "a NodePort there answers no other node",         \
        "open the range of NodePorts in its firewall (30000-32767); look at kube-proxy there",     \
        "kubernetes/kubernetes#74550"
#define KUBELET                                                                                    \
    "CL-KUBELET", "kubectl logs and exec, metrics",                                                \
        "the kubelet's port 10250 does not answer pods",                                           \
        "open TCP 10250 in that node's firewall: winjoin join phase vswitch does so on a "         \
        "Windows node",                                                                            \
        NULL

static const struct cluster_row rows[] = {
    {.kind = PATTERN,
     .titles[OUT] = {"CL-BEYOND", "from the node's pods to nodes, to the API server and outside",
                     "pods there reach pods of other nodes, but nothing beyond the pod network",
                     NAT_HINT, "kubernetes/kubernetes#86482"},
     .breaks = {KUBELETS | OUTSIDE | API_NAME, .but = IS_UNRESOLVED},
     .follows = {NODE_PORTS | OUTSIDE_NAMES},
     .pattern = {.several_flows = true}},
    {.kind = PATTERN,
     .titles[OUT] =
         {"CL-HOSTS", "from the node's pods to nodes and the API server",
          "pods there get outside, but reach no host of the nodes' own network",
          "look at what its address translation leaves out: the ExceptionList of OutBoundNAT in "
          "the CNI file on Windows; and for a policy that closes that network",
          "kubernetes-sigs/sig-windows-tools#141"},
     .breaks = {KUBELETS | NODE_PORTS | API_NAME, .but = IS_UNRESOLVED},
     .spares = {OUTSIDE},
     .pattern = {.several_flows = true}},
    {.kind = PATTERN,
     .titles[ALL] = {"CL-API", "clients of the API server in pods",
                     "no pod reaches the API server by its Service", API_HINT, NULL},
     .titles[NODE] = {"CL-API-NODE", "clients of the API server in the node's pods",
                      "pods there do not reach the API server by its Service", NULL, NULL},
     .breaks = {API_NAME, .but = IS_UNRESOLVED}},
    {.kind = PATTERN,
     .titles[ALL] = {"CL-TARGET", "the kubelets' port and NodePorts",
                     "pods do not reach the node itself, neither its kubelet's port nor its "
                     "NodePorts; its pods they do",
                     "look for a firewall of that node, or a security group, that closes TCP 10250 "
                     "and the range of NodePorts (30000-32767)",
                     NULL},
     .titles[OUT] = {TARGET_OUT},
     .titles[IN] = {"CL-TARGET", "the kubelets' port and NodePorts", NULL, NULL, NULL},
     .titles[PAIR] = {TARGET_PAIR},
     .breaks = {KUBELETS | NODE_PORTS},
     .pattern = {.several_flows = true, .at_target = true}},
    {.kind = PATTERN,
     .titles[IN] =
         {"CL-NODEPORT-TAKEN", "a NodePort of the node",
          "another program answers at a NodePort there",
          "netstat -ano on a Windows node, ss -ltnp on a Linux node, names the process; move it "
          "out of the NodePort range (30000-32767), then restart kube-proxy there",
          NULL},
     .breaks = {NODE_PORTS, ONLY_TCP, IS_GREEN | IS_ASTRAY},
     .follows = {NODE_PORTS, .fits = IS_ASTRAY},
     .pattern = {.at_target = true}},
    {.kind = LOSS,
     .titles[IN] = {"CL-NODEPORT-SOME", "some connections to NodePorts of the node",
                    "NodePorts there answer other nodes some connections only: perhaps those that "
                    "lead to its own pods",
                    "look whether the node forwards packets from other nodes to others' pods, and "
                    "translates their source: iptables -S FORWARD on a Linux node, IP forwarding "
                    "and its host firewall on a Windows node",
                    "kubernetes/kubernetes#70222"},
     .loss = LOSES_SOME,
     .breaks = {NODE_PORTS, .fits = IS_GREEN | IS_LOSSY},
     .follows = {NODE_PORTS},
     .pattern = {.split = BY_PROTOCOL, .at_target = true, .pods_work = true}},
    {.kind = PATTERN,
     .titles[ALL] = {"CL-NODEPORT", "NodePorts of all nodes",
                     "no NodePort answers from another node",
                     "check nodePortAddresses of kube-proxy, and that no firewall between the "
                     "nodes closes the NodePort range (30000-32767)",
                     "kubernetes/kubernetes#73327"},
     .titles[OUT] = {TARGET_OUT},
     .titles[IN] = {NODEPORT_NODE},
     .titles[PAIR] = {TARGET_PAIR},
     .breaks = {NODE_PORTS},
     .pattern = {.at_target = true}},
    {.kind = PATTERN,
     .titles[ALL] = {"CL-NODEPORT-UDP", "UDP to NodePorts of all nodes, or of some",
                     "no NodePort answers UDP from another node",
                     "let UDP to the NodePort range (30000-32767), too, pass between the nodes: a "
                     "firewall, or a cloud's security group, lets TCP pass only",
                     NULL},
     .breaks = {NODE_PORTS, ONLY_UDP},
     .spares = {NODE_PORTS, ONLY_TCP},
     .pattern = {.at_target = true, .pods_work = true}},
    {.kind = PATTERN,
     .titles[ALL] = {"CL-NODEPORT-TCP", "TCP to NodePorts of all nodes, or of some",
                     "no NodePort answers TCP from another node",
                     "let TCP to the NodePort range (30000-32767), too, pass between the nodes: a "
                     "firewall, or a cloud's security group, lets UDP pass only",
                     NULL},
     .breaks = {NODE_PORTS, ONLY_TCP},
     .spares = {NODE_PORTS, ONLY_UDP},
     .pattern = {.at_target = true, .pods_work = true}},
    {.kind = PATTERN,
     .titles[ALL] = {KUBELET},
     .titles[OUT] = {TARGET_OUT},
     .titles[IN] = {KUBELET},
     .titles[PAIR] = {TARGET_PAIR},
     .breaks = {KUBELETS},
     .pattern = {.at_target = true}},
    {.kind = PATTERN,
     .titles[NODE] = {"CL-READY", "readiness and liveness probes of the node's pods",
                      "the kubelet does not reach its own pods, other nodes' pods do",
                      "look at the node's own address in the pod network and its host firewall",
                      NULL},
     .breaks = {READINESS}},
    {.kind = PATTERN,
     .titles[ALL] = {"CL-OUT", "targets outside the cluster", "no pod reaches the target outside",
                     "check whether a node reaches it itself, and whether the nodes' network has a "
                     "route to it",
                     NULL},
     .titles[NODE] = {"CL-OUT-NODE", "targets outside, from the node's pods",
                      "pods there do not get outside", NAT_HINT, "kubernetes/kubernetes#86482"},
     .breaks = {OUTSIDE},
     .follows = {OUTSIDE_NAMES}},
    {.kind = LOSS,
     .titles[ALL] =
         {"CL-OUT-SOME", "some connections to targets outside the cluster",
          "the target outside answers some connections only",
          "count the connections that are open at the address translation before it (a cloud's "
          "load balancer or NAT gateway: SNAT ports used up), and on a node, netstat -an",
          "projectcalico/calico#7875"},
     .loss = LOSES_SOME,
     .breaks = {OUTSIDE, .fits = IS_GREEN | IS_LOSSY},
     .follows = {OUTSIDE}},
    {.kind = PATTERN,
     .titles[ALL] = {"CL-OUT-NAME", "names outside the cluster",
                     "the name outside does not resolve or answer",
                     "check the forward line in the CoreDNS configuration; where it is so from "
                     "some nodes only, their pods' way to the DNS and outside",
                     NULL},
     .breaks = {OUTSIDE_NAMES}},
    {.kind = PATTERN,
     .titles[NODE] =
         {"CL-LOCALHOST", "containers of one pod",
          "the containers of a pod there do not reach each other by localhost",
          "look whether the pod's containers share its network (the sandbox of containerd, crictl "
          "inspectp), and for a program in the pod's image that has taken the port",
          NULL},
     .breaks = {LOCALHOST},
     .pattern = {.split = BY_PROTOCOL}},
    {.kind = READ_ON_NODE,
     .titles[NODE] =
         {"CL-NODEPORT-LOCAL", "NodePorts with externalTrafficPolicy Local, of the node",
          "a NodePort of a Service with externalTrafficPolicy Local answers no other node there",
          "look at kube-proxy there, and at the health check of the load balancer before it "
          "(healthCheckNodePort of the Service)",
          NULL},
     .says = SAYS_NO_LOCAL_PORT,
     .local_port = true},
    {.kind = UNASKED,
     .titles[OUT] =
         {"CL-LATE", "what the node's pod was asked",
          "its probe did not answer in time: nothing is known of what it reaches",
          "run this again when the API server and the node have less to do, or the network between "
          "the two works; kubectl get --raw /version shows how long the API server takes",
          NULL},
     .breaks = {ANY_FLOW, .fits = IS_NOT_RUN}},
};

const struct cluster_rows cluster_rows_of_targets = {rows, ARRAY_SIZE(rows)};
