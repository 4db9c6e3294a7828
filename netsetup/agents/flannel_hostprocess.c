/* flannel in HostProcess containers: DaemonSet kube-flannel-ds-windows-amd64. flanneld makes the
 * network from its ConfigMap kube-flannel-cfg. Its Pod writes the CNI configuration before that, at
 * each start. Source: kubernetes-sigs/sig-windows-tools, hostprocess/flannel (flannel-overlay.yml,
 * start.ps1; removed there in April 2025, but in use in clusters). */
#include "netsetup/agents/daemon_set_agent.h"

static const struct daemon_set_network networks[] = {
    {.mode = "overlay", .hns_type = "Overlay", .name = "flannel.4096"},
    {.mode = "l2bridge", .hns_type = "L2Bridge", .name = "cbr0"},
    {0}};

const struct daemon_set_agent daemon_set_agent_flannel = {
    .name = "flannel",
    .title = "flannel",
    .daemon_set = "kube-flannel-ds-windows-amd64",
    .settings_of = &network_agent_flannel,
    .cni_bin = (const char *const[]){"CNI_BIN_PATH", NULL},
    .cni_conf = (const char *const[]){"CNI_CONFIG_PATH", NULL},
    .networks = networks,
    .needs_pod_cidr = true,
    .removal = "flannel's HNS network and the folder C:\\etc\\kube-flannel: "
               "hnsdiag delete networks ID",
};
