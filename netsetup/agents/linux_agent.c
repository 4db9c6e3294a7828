/* The table; the names are those of each project's own manifests and charts, and of RKE2's. */
#include "netsetup/agents/linux_agent.h"

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NO_PART "has no part for Windows nodes that winjoin knows"
#define OTHER_CLUSTER "a Windows node needs a cluster with Calico, Antrea or flannel"
#define NOT_HERE "whose part for Windows nodes is not installed"

const struct linux_agent linux_agents[] = {
    {"Calico", NAMES("calico-node"), NOT_HERE,
     "install Calico's part for Windows first: kubectl patch ipamconfig default --type merge -p "
     "\"spec: {strictAffinity: true}\", then kubectl patch installation default --type merge -p "
     "\"spec: {calicoNetwork: {windowsDataplane: HNS}}\""},
    {"Antrea", NAMES("antrea-agent"), NOT_HERE,
     "install Antrea's part for Windows first: kubectl apply -f antrea-windows.yml of the same "
     "release"},
    {"Canal", NAMES("canal", "rke2-canal"), "whose flannel can serve Windows nodes",
     "give its flannel VNI 4096 and port 4789 on all nodes, then join with --network-plugin "
     "flannel --network-mode overlay"},
    {"flannel", NAMES("kube-flannel-ds", "kube-flannel"),
     "whose settings are in no ConfigMap kube-flannel-cfg",
     "join with --network-plugin flannel, and its --network-mode, --vni and --vxlan-port"},
    {"Cilium", NAMES("cilium"), "which " NO_PART, OTHER_CLUSTER},
    {"Weave Net", NAMES("weave-net"), "which " NO_PART, OTHER_CLUSTER},
    {"kube-router", NAMES("kube-router"), "which " NO_PART, OTHER_CLUSTER},
    {"Kube-OVN", NAMES("kube-ovn-cni"), "which " NO_PART, OTHER_CLUSTER},
    {"OVN-Kubernetes", NAMES("ovnkube-node"), "which serves Windows nodes by its hybrid overlay",
     "enable the hybrid overlay, then join with --network-plugin ovn-kubernetes"},
    {"Amazon VPC CNI", NAMES("aws-node"), "which " NO_PART,
     "EKS' own images join Windows nodes there"},
    {"kindnet", NAMES("kindnet"), "which " NO_PART, OTHER_CLUSTER},
    {0},
};
