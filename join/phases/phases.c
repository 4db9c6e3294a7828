/* The table of phases: order, names, help. */
#include "join/phases/phases.h"

#include "join/found/need.h"

/* The pod subnet is known only once the Node object has its podCIDR, so the pod network comes after
 * the kubelet; the vSwitch outage is taken once, early, by a node that is known to be let in. */
const struct join_phase join_phases[] = {
    {"preflight", "preflight", "check that this machine can become a node", phase_preflight, 0,
     true},
    {"discovery", "discovery", "verify the cluster by token and CA hash, or by file",
     phase_discovery, NEED_CLIENT, true},
    {"configuration", "configuration", "read the cluster's ConfigMaps; plan the network",
     phase_configuration, NEED_CLUSTER, true},
    {"artifacts", "programs", "verify and install the programs", phase_artifacts, NEED_PLAN, false},
    {"certificate", "certificate", "get the node's client certificate signed", phase_certificate,
     NEED_CLIENT, false},
    {"vswitch", "vSwitch", "make the virtual switch and keep the adapter's addresses and routes",
     phase_vswitch, NEED_PLAN, false},
    {"files", "files", "write kubelet.conf, config.yaml, ca.crt and containerd's configuration",
     phase_files, NEED_PLAN | NEED_KUBELET_CONFIG, false},
    {"containerd", "containerd", "register and start containerd", phase_containerd, NEED_PLAN,
     false},
    {"kubelet", "kubelet", "register and start the kubelet; wait until it is healthy",
     phase_kubelet, NEED_PLAN, false},
    {"node", "node", "wait until the Node is registered and has its pod subnet", phase_node,
     NEED_NODE_CLIENT | NEED_PLAN, true},
    {"pod-network", "pod network", "make the HNS network, the CNI file and the source VIP",
     phase_pod_network, NEED_CLUSTER | NEED_NODE | NEED_PLAN, false},
    {"flanneld", "flanneld", "start flanneld where the cluster runs flannel; wait for its routes",
     phase_flanneld, NEED_NODE | NEED_PLAN, false},
    {"kube-proxy", "kube-proxy", "register and start kube-proxy; wait for its first Services",
     phase_kube_proxy, NEED_CLUSTER | NEED_NODE | NEED_PLAN, false},
    {"ready", "node Ready", "wait until the Node is Ready", phase_ready, NEED_NODE_CLIENT, true},
    {"verify", "verify", "test the pod network: nine flows, TCP and UDP", phase_verify, 0,
     false}, /* it finds them itself, where the cluster can be asked */
    {0},
};
