/* The table of phases: order, names, help. */
#include "join/phases/phases.h"

#include "base/memory.h"

/* The pod subnet is known only once the Node object has its podCIDR, so the pod network comes after
 * the kubelet; the vSwitch outage is taken once, early. */
static const struct join_phase phases[] = {
    {"preflight", "preflight", "check that this Windows is fit to be a node", phase_preflight,
     true},
    {"discovery", "discovery", "prove the cluster by token and pin, or by file", phase_discovery,
     true},
    {"configuration", "configuration", "read the cluster's ConfigMaps; plan the network",
     phase_configuration, true},
    {"artifacts", "artefacts", "verify and lay the programs", phase_artifacts, false},
    {"vswitch", "vSwitch", "make the virtual switch, keeping the card's address and routes",
     phase_vswitch, false},
    {"certificate", "certificate", "get the node's client certificate signed", phase_certificate,
     false},
    {"files", "files", "lay kubelet.conf, config.yaml, ca.crt and containerd's configuration",
     phase_files, false},
    {"containerd", "containerd", "register and start containerd", phase_containerd, false},
    {"kubelet", "kubelet", "register and start the kubelet, wait until it is healthy",
     phase_kubelet, false},
    {"node", "node", "wait until the Node is registered and has its pod subnet", phase_node, true},
    {"pod-network", "pod network", "make the HNS network, the CNI file and the source VIP",
     phase_pod_network, false},
    {"flanneld", "flanneld",
     "start flanneld where the cluster runs flannel, wait until it has laid its ways",
     phase_flanneld, false},
    {"kube-proxy", "kube-proxy", "register and start kube-proxy, wait for its first Services",
     phase_kube_proxy, false},
    {"ready", "node Ready", "wait until the Node is Ready", phase_ready, true},
    {"verify", "verify", "prove the pod network: nine flows, TCP and UDP", phase_verify, false},
};

const struct join_phase *join_phases(size_t *ret_count) {
    *ret_count = ARRAY_SIZE(phases);
    return phases;
}
