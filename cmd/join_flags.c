/* The flags of join: kubeadm's own, with its meaning, and winjoin's. */
#include "cmd/program.h"

#define AT(field) offsetof(struct program_options, join.field)

static const struct option cluster_options[] = {
    {"config", 0, OPTION_TEXT, AT(config), "FILE",
     "file with a JoinConfiguration, a NodeConfiguration or both",
     OPTION_WITH_CONFIG | OPTION_EMPTY},
    {"discovery-file", 0, OPTION_TEXT, AT(discovery_file), "FILE",
     "kubeconfig that identifies the cluster, instead of a token", OPTION_KUBEADM},
    {"discovery-token", 0, OPTION_SECRET, AT(discovery_token), "TOKEN", "token for discovery only",
     OPTION_KUBEADM},
    {"discovery-token-ca-cert-hash", 0, OPTION_LIST, AT(discovery_token_ca_cert_hash), "HASH",
     "pin of the cluster's CA, \"sha256:<hex>\"; may be repeated", OPTION_KUBEADM},
    {"discovery-token-unsafe-skip-ca-verification", 0, OPTION_BOOL,
     AT(discovery_token_unsafe_skip_ca_verification), "", "trust the token only, without a CA hash",
     OPTION_KUBEADM},
    {"token", 0, OPTION_SECRET, AT(token), "TOKEN",
     "bootstrap token, \"<id>.<secret>\"; \"-\" reads it from standard input", OPTION_KUBEADM},
    {"token-file", 0, OPTION_TEXT, AT(token_file), "FILE", "read the bootstrap token from a file",
     0},
    {"tls-bootstrap-token", 0, OPTION_SECRET, AT(tls_bootstrap_token), "TOKEN",
     "token for the TLS bootstrap only", OPTION_KUBEADM},
    {"timeout", 0, OPTION_DURATION, AT(timeout), "DURATION",
     "time limit of discovery (default 5m) and of retries at a mirror (1m)", OPTION_POSITIVE},
    {0},
};
const struct option_group join_cluster_group = {"Cluster", cluster_options};

static const struct option node_options[] = {
    {"node-name", 0, OPTION_TEXT, AT(node_name), "NAME",
     "name of the Node (default: the host name in lower case)",
     OPTION_KUBEADM | OPTION_WITH_CONFIG},
    {"node-ip", 0, OPTION_TEXT, AT(node_ip), "IP",
     "the node's address (default: that of the adapter)", 0},
    {"pod-cidr", 0, OPTION_LIST, AT(pod_cidrs), "CIDR",
     "this node's pod subnet, with dual stack one of each family (default: the Node's podCIDRs)",
     0},
    {"node-labels", 0, OPTION_TEXT, AT(node_labels), "LABELS", "labels the kubelet registers with",
     OPTION_EMPTY},
    {"register-with-taints", 0, OPTION_TEXT, AT(register_with_taints), "TAINTS",
     "taints the kubelet registers with", OPTION_EMPTY},
    {"cri-socket", 0, OPTION_TEXT, AT(cri_socket), "SOCKET",
     "container runtime (default npipe:////./pipe/containerd-containerd)", OPTION_KUBEADM},
    {"patches", 0, OPTION_TEXT, AT(patches), "DIR",
     "folder with kubeletconfiguration patches, as kubeadm takes them", OPTION_KUBEADM},
    {"tls-bootstrap", 0, OPTION_CHOICE, AT(tls_bootstrap), "winjoin|kubelet",
     "program that requests the client certificate", 0},
    {0},
};
const struct option_group join_node_group = {"Node", node_options};

static const struct option network_options[] = {
    {"network-mode", 0, OPTION_NETWORK_MODE, AT(network_mode), NULL,
     "how pods are connected (default: what the cluster's flannel says, else overlay)", 0},
    {"network-plugin", 0, OPTION_NETWORK_PLUGIN, AT(network_plugin), NULL,
     "plugin that creates pod endpoints and routes to other nodes", 0},
    {"network-name", 0, OPTION_TEXT, AT(network_name), "NAME",
     "HNS network (default flannel.<VNI> or cbr0)", 0},
    {"adapter", 0, OPTION_TEXT, AT(adapter), "NAME",
     "network adapter under the virtual switch (default: the one with the default route)", 0},
    {"vni", 0, OPTION_NUMBER, AT(vni), "N", "overlay: VXLAN network ID, 4096 or higher", 0},
    {"vxlan-port", 0, OPTION_NUMBER, AT(vxlan_port), "PORT", "overlay: UDP port (default 4789)", 0},
    {"routes", 0, OPTION_CHOICE, AT(routes), "own|print|none",
     "l2bridge, l2tunnel: routes to other nodes' pods are added on this node (own, default), "
     "printed "
     "for you to add to the network (print), or the network has them (none)",
     0},
    {"kube-proxy", 0, OPTION_CHOICE, AT(kube_proxy), "service|none",
     "run kube-proxy as a service, or leave it to the cluster", 0},
    {"dsr", 0, OPTION_CHOICE, AT(dsr), "auto|on|off", "direct server return", 0},
    {"verify", 0, OPTION_CHOICE, AT(verify), "full|node|none",
     "test the pod network: all flows, those inside the cluster, none", 0},
    {0},
};
const struct option_group join_network_group = {"Network", network_options};

static const struct option programs_options[] = {
    {"bundle", 0, OPTION_TEXT, AT(bundle), "FILE",
     "folder or .zip with the node's programs and winjoin.lock", 0},
    {"mirror", 0, OPTION_TEXT, AT(mirror), "URL",
     "the same, unpacked on a web server: https://HOST/FOLDER", 0},
    {"source-base", 0, OPTION_TEXT, AT(source_base), "URL",
     "without --bundle and --mirror: proxy of upstream's hosts, URL/dl.k8s.io/...; \"none\" "
     "fetches nothing",
     0},
    {"catalog", 0, OPTION_TEXT, AT(catalog), "FILE",
     "where programs are published, as \"config print catalog\" prints it", 0},
    {"kubernetes-version", 0, OPTION_TEXT, AT(kubernetes_version), "VERSION",
     "version that kubelet and kube-proxy must have (default: any that the cluster supports)", 0},
    {0},
};
const struct option_group join_programs_group = {"Programs", programs_options};

static const struct option checks_options[] = {
    {"install-features", 0, OPTION_BOOL, AT(install_features), "",
     "install the Windows feature Containers where it is missing, and Hyper-V where a RuntimeClass "
     "of the cluster needs it; exit code 6 asks for a restart",
     0},
    {"restart", 0, OPTION_BOOL, AT(restart), "",
     "restart Windows where that is needed first; the join continues by itself afterwards", 0},
    {"ignore-preflight-errors", 0, OPTION_LIST, AT(ignore_preflight_errors), "CHECK",
     "checks whose errors become warnings, or \"all\"", OPTION_KUBEADM | OPTION_WITH_CONFIG},
    {0},
};
const struct option_group join_checks_group = {"Checks", checks_options};

static const struct option run_options[] = {
    {"dry-run", 0, OPTION_BOOL, AT(dry_run), "", "print what would be done; change nothing",
     OPTION_KUBEADM | OPTION_WITH_CONFIG},
    {"skip-phases", 0, OPTION_LIST, AT(skip_phases), "PHASE",
     "phases to skip (winjoin join phase list)", OPTION_KUBEADM | OPTION_WITH_CONFIG},
    {"join-timeout", 0, OPTION_DURATION, AT(join_timeout), "DURATION",
     "time limit of the whole join (default: none; each wait has its own)", 0},
    {"on-failure", 0, OPTION_CHOICE, AT(on_failure), "keep|rollback",
     "when the join fails: keep what is done, so that the same command continues, or undo it", 0},
    {"existing-services", 0, OPTION_CHOICE, AT(existing_services), "refuse|adopt",
     "services containerd and kubelet that winjoin did not make: refuse to join, or go on with "
     "them "
     "(default: refuse)",
     0},
    {"apply-host-fixes", 0, OPTION_BOOL, AT(apply_host_fixes), "",
     "set the registry values that upstream's images have on this build of Windows (winjoin "
     "capabilities lists them); reset undoes that",
     0},
    {"start-spread", 0, OPTION_DURATION, AT(start_spread), "DURATION",
     "longest random pause before the first request (default: 10s without a terminal on a machine "
     "that has just started, else 0s)",
     0},
    {"vmodule", 0, OPTION_TEXT, offsetof(struct program_options, vmodule), "PATTERN",
     "accepted and ignored: -v sets how much winjoin logs", OPTION_KUBEADM | OPTION_HIDDEN},
    {"control-plane", 0, OPTION_BOOL, offsetof(struct program_options, control_plane), "",
     "refused: a control plane does not run on Windows", OPTION_KUBEADM | OPTION_HIDDEN},
    {"certificate-key", 0, OPTION_SECRET, offsetof(struct program_options, certificate_key), "KEY",
     "for a control plane", OPTION_KUBEADM | OPTION_HIDDEN},
    {"apiserver-advertise-address", 0, OPTION_TEXT,
     offsetof(struct program_options, apiserver_advertise_address), "IP", "for a control plane",
     OPTION_KUBEADM | OPTION_HIDDEN},
    {"apiserver-bind-port", 0, OPTION_NUMBER, offsetof(struct program_options, apiserver_bind_port),
     "PORT", "for a control plane", OPTION_KUBEADM | OPTION_HIDDEN},
    {0},
};
const struct option_group join_run_group = {"Run", run_options};

static const struct option upgrade_options[] = {
    {"drain", 0, OPTION_BOOL, offsetof(struct program_options, drain), "",
     "cordon the node and evict its pods first; allow them again at the end", 0},
    {"patches", 0, OPTION_TEXT, AT(patches), "DIR",
     "folder with kubeletconfiguration patches, as the join was given", 0},
    {"verify", 0, OPTION_CHOICE, AT(verify), "full|node|none",
     "test the pod network: all flows, those inside the cluster, none", 0},
    {"ignore-preflight-errors", 0, OPTION_LIST, AT(ignore_preflight_errors), "CHECK",
     "checks whose errors become warnings (KubeletVersion), or \"all\"", OPTION_EMPTY},
    {"timeout", 0, OPTION_DURATION, AT(timeout), "DURATION",
     "limit of tries at a mirror (default 1m)", OPTION_POSITIVE},
    {"dry-run", 0, OPTION_BOOL, AT(dry_run), "", "print what would be done; change nothing", 0},
    {0},
};
const struct option_group upgrade_group = {"Upgrade", upgrade_options};

static const struct option certs_options[] = {
    {"timeout", 0, OPTION_DURATION, AT(timeout), "DURATION",
     "limit of the wait for an approval (default 5m)", OPTION_POSITIVE},
    {0},
};
const struct option_group certs_group = {"Renewal", certs_options};
