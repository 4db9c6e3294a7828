/* The table; the names are those of each project's own manifests and charts, and of RKE2's. */
#include "netsetup/agents/linux_agent.h"

#include "base/text.h"

#define NAMES(...)                                                                                 \
    .daemon_sets = (const char *const[]) {                                                         \
        __VA_ARGS__, NULL                                                                          \
    }
#define NO_PART .windows = "which has no part for Windows nodes that winjoin knows"
#define OTHER_CLUSTER .remedy = "a Windows node needs a cluster with Calico, Antrea or flannel"
#define NOT_HERE .windows = "whose part for Windows nodes is not installed"

const struct linux_agent linux_agents[] = {
    {.title = "Calico",
     NAMES("calico-node"),
     NOT_HERE,
     .remedy = "set pools of VXLAN or None and ConfigMap "
               "tigera-operator/kubernetes-services-endpoint, then kubectl patch ipamconfig "
               "default --type merge -p \"spec: {strictAffinity: true}\" and kubectl patch "
               "installation default --type merge -p \"spec: {serviceCIDRs: "
               "[SERVICE_SUBNET], calicoNetwork: {windowsDataplane: HNS}}\"",
     .by_manifest = "Calico's operator installs its part for Windows, and this Calico came without "
                    "it: https://docs.tigera.io/calico/latest/operations/operator-migration"},
    {.title = "Antrea",
     NAMES("antrea-agent"),
     NOT_HERE,
     .remedy = "install Antrea's part for Windows first: kubectl apply -f antrea-windows.yml of "
               "the same release"},
    {.title = "Canal",
     NAMES("canal", "rke2-canal"),
     .windows = "whose flannel can serve Windows nodes",
     .remedy = "give its flannel VNI 4096 and port 4789 on all nodes, then join with "
               "--network-plugin flannel --network-mode overlay"},
    {.title = "flannel",
     NAMES("kube-flannel-ds", "kube-flannel"),
     .windows = "whose settings are in no ConfigMap kube-flannel-cfg",
     .remedy = "join with --network-plugin flannel, and its --network-mode, --vni and "
               "--vxlan-port"},
    {.title = "Cilium", NAMES("cilium"), NO_PART, OTHER_CLUSTER},
    {.title = "Weave Net", NAMES("weave-net"), NO_PART, OTHER_CLUSTER},
    {.title = "kube-router", NAMES("kube-router"), NO_PART, OTHER_CLUSTER},
    {.title = "Kube-OVN", NAMES("kube-ovn-cni"), NO_PART, OTHER_CLUSTER},
    {.title = "OVN-Kubernetes",
     NAMES("ovnkube-node"),
     .windows = "which serves Windows nodes by its hybrid overlay",
     .remedy = "enable the hybrid overlay, then: winjoin config cluster --kubeconfig admin.conf | "
               "kubectl apply -f -",
     .annotation = "k8s.ovn.org/hybrid-overlay-distributed-router-gateway-mac",
     .plugin = "ovn-kubernetes"},
    {.title = "Amazon VPC CNI",
     NAMES("aws-node"),
     NO_PART,
     .remedy = "EKS' own images join Windows nodes there; elsewhere they need a cluster with "
               "Calico, Antrea or flannel"},
    {.title = "kindnet", NAMES("kindnet"), NO_PART, OTHER_CLUSTER},
    {.title = "Terway", NAMES("terway-eniip"), NO_PART, OTHER_CLUSTER},
    {0},
};

const struct linux_agent linux_agent_unknown = {
    .title = "a network",
    .windows = "which winjoin does not know by name",
    .remedy = "say what this node gets: --network-plugin, and --network-mode where that has "
              "several; or install a network that winjoin knows (Calico, Antrea, flannel), then: "
              "winjoin config cluster --kubeconfig admin.conf | kubectl apply -f -"};

const char *linux_agent_remedy(const struct linux_agent *agent, const char *linux_set) {
    return agent->by_manifest && text_starts_with(linux_set, "DaemonSet kube-system/")
               ? agent->by_manifest
               : agent->remedy;
}
