/* The flags of join: kubeadm's own, with its meaning, and winjoin's. */
#include "cmd/program.h"

#define AT(field) offsetof(struct program_options, join.field)

static const struct option cluster_options[] = {
    {"config", 0, OPTION_TEXT, OPTION_WITH_CONFIG | OPTION_EMPTY, AT(config), "FILE",
     "file with a JoinConfiguration, a NodeConfiguration or both"},
    {"discovery-file", 0, OPTION_TEXT, OPTION_KUBEADM, AT(discovery_file), "FILE",
     "kubeconfig that identifies the cluster, instead of a token"},
    {"discovery-token", 0, OPTION_SECRET, OPTION_KUBEADM, AT(discovery_token), "TOKEN",
     "token for discovery only"},
    {"discovery-token-ca-cert-hash", 0, OPTION_LIST, OPTION_KUBEADM,
     AT(discovery_token_ca_cert_hash), "HASH",
     "pin of the cluster's CA, \"sha256:<hex>\"; may be repeated"},
    {"discovery-token-unsafe-skip-ca-verification", 0, OPTION_BOOL, OPTION_KUBEADM,
     AT(discovery_token_unsafe_skip_ca_verification), "",
     "trust the token only, without a CA hash"},
    {"token", 0, OPTION_SECRET, OPTION_KUBEADM, AT(token), "TOKEN",
     "bootstrap token, \"<id>.<secret>\"; \"-\" reads it from standard input"},
    {"token-file", 0, OPTION_TEXT, 0, AT(token_file), "FILE",
     "read the bootstrap token from a file"},
    {"tls-bootstrap-token", 0, OPTION_SECRET, OPTION_KUBEADM, AT(tls_bootstrap_token), "TOKEN",
     "token for the TLS bootstrap only"},
    {"timeout", 0, OPTION_DURATION, OPTION_POSITIVE, AT(timeout), "DURATION",
     "time limit of discovery (default 5m) and of retries at a mirror (1m)"},
    {0},
};
const struct option_group join_cluster_group = {"Cluster", cluster_options};

static const struct option node_options[] = {
    {"node-name", 0, OPTION_TEXT, OPTION_KUBEADM | OPTION_WITH_CONFIG, AT(node_name), "NAME",
     "name of the Node (default: the host name in lower case)"},
    {"node-ip", 0, OPTION_TEXT, 0, AT(node_ip), "IP",
     "the node's address (default: that of the adapter)"},
    {"pod-cidr", 0, OPTION_LIST, 0, AT(pod_cidrs), "CIDR",
     "this node's pod subnet, with dual stack one of each family (default: the Node's podCIDRs)"},
    {"node-labels", 0, OPTION_TEXT, OPTION_EMPTY, AT(node_labels), "LABELS",
     "labels the kubelet registers with"},
    {"register-with-taints", 0, OPTION_TEXT, OPTION_EMPTY, AT(register_with_taints), "TAINTS",
     "taints the kubelet registers with"},
    {"cri-socket", 0, OPTION_TEXT, OPTION_KUBEADM, AT(cri_socket), "SOCKET",
     "container runtime (default npipe:////./pipe/containerd-containerd)"},
    {"patches", 0, OPTION_TEXT, OPTION_KUBEADM, AT(patches), "DIR",
     "folder with kubeletconfiguration patches, as kubeadm takes them"},
    {"tls-bootstrap", 0, OPTION_CHOICE, 0, AT(tls_bootstrap), "winjoin|kubelet",
     "program that requests the client certificate"},
    {0},
};
const struct option_group join_node_group = {"Node", node_options};

static const struct option network_options[] = {
    {"network-mode", 0, OPTION_NETWORK_MODE, 0, AT(network_mode), NULL,
     "how pods are connected (default: what the cluster's flannel says, else overlay)"},
    {"network-plugin", 0, OPTION_NETWORK_PLUGIN, 0, AT(network_plugin), NULL,
     "plugin that creates pod endpoints and routes to other nodes"},
    {"network-name", 0, OPTION_TEXT, 0, AT(network_name), "NAME",
     "HNS network (default flannel.<VNI> or cbr0)"},
    {"adapter", 0, OPTION_TEXT, 0, AT(adapter), "NAME",
     "network adapter under the virtual switch (default: the one with the default route)"},
    {"vni", 0, OPTION_NUMBER, 0, AT(vni), "N", "overlay: VXLAN network ID, 4096 or higher"},
    {"vxlan-port", 0, OPTION_NUMBER, 0, AT(vxlan_port), "PORT", "overlay: UDP port (default 4789)"},
    {"routes", 0, OPTION_CHOICE, 0, AT(routes), "own|print|none",
     "l2bridge, l2tunnel: routes to other nodes' pods are added on this node (own, default), "
     "printed for you to add to the network (print), or the network has them (none)"},
    {"kube-proxy", 0, OPTION_CHOICE, 0, AT(kube_proxy), "service|none",
     "run kube-proxy as a service, or leave it to the cluster"},
    {"dsr", 0, OPTION_CHOICE, 0, AT(dsr), "auto|on|off", "direct server return"},
    {"verify", 0, OPTION_CHOICE, 0, AT(verify), "full|node|none",
     "test the pod network: all flows, those inside the cluster, none"},
    {0},
};
const struct option_group join_network_group = {"Network", network_options};

static const struct option programs_options[] = {
    {"bundle", 0, OPTION_TEXT, 0, AT(bundle), "FILE",
     "folder or .zip with the node's programs and winjoin.lock"},
    {"mirror", 0, OPTION_TEXT, 0, AT(mirror), "URL",
     "the same, unpacked on a web server: https://HOST/FOLDER"},
    {"source-base", 0, OPTION_TEXT, 0, AT(source_base), "URL",
     "without --bundle and --mirror: proxy of upstream's hosts, URL/dl.k8s.io/...; \"none\" "
     "fetches nothing"},
    {"catalog", 0, OPTION_TEXT, 0, AT(catalog), "FILE",
     "where programs are published, as \"config print catalog\" prints it"},
    {"sandbox-image", 0, OPTION_TEXT, 0, AT(sandbox_image), "IMAGE",
     "image of each pod's sandbox, for Windows (default: upstream's pause, from the cluster's "
     "imageRepository where it has one)"},
    {"kubernetes-version", 0, OPTION_TEXT, 0, AT(kubernetes_version), "VERSION",
     "version that kubelet and kube-proxy must have (default: any that the cluster supports)"},
    {0},
};
const struct option_group join_programs_group = {"Programs", programs_options};

static const struct option checks_options[] = {
    {"install-features", 0, OPTION_BOOL, 0, AT(install_features), "",
     "install the Windows feature Containers where it is missing, and Hyper-V where a RuntimeClass "
     "of the cluster needs it; exit code 6 asks for a restart"},
    {"restart", 0, OPTION_BOOL, 0, AT(restart), "",
     "restart Windows where that is needed first; the join continues by itself afterwards"},
    {"ignore-preflight-errors", 0, OPTION_LIST, OPTION_KUBEADM | OPTION_WITH_CONFIG,
     AT(ignore_preflight_errors), "CHECK", "checks whose errors become warnings, or \"all\""},
    {0},
};
const struct option_group join_checks_group = {"Checks", checks_options};

static const struct option run_options[] = {
    {"dry-run", 0, OPTION_BOOL, OPTION_KUBEADM | OPTION_WITH_CONFIG, AT(dry_run), "",
     "print what would be done; change nothing"},
    {"skip-phases", 0, OPTION_LIST, OPTION_KUBEADM | OPTION_WITH_CONFIG, AT(skip_phases), "PHASE",
     "phases to skip (winjoin join phase list)"},
    {"join-timeout", 0, OPTION_DURATION, 0, AT(join_timeout), "DURATION",
     "time limit of the whole join (default: none; each wait has its own)"},
    {"on-failure", 0, OPTION_CHOICE, 0, AT(on_failure), "keep|rollback",
     "when the join fails: keep what is done, so that the same command continues, or undo it"},
    {"existing-services", 0, OPTION_CHOICE, 0, AT(existing_services), "refuse|adopt",
     "services containerd and kubelet that winjoin did not make: refuse to join, or go on with "
     "them (default: refuse)"},
    {"apply-host-fixes", 0, OPTION_BOOL, 0, AT(apply_host_fixes), "",
     "set the registry values that upstream's images have on this build of Windows (winjoin "
     "capabilities lists them); reset undoes that"},
    {"start-spread", 0, OPTION_DURATION, 0, AT(start_spread), "DURATION",
     "longest random pause before the first request (default: 10s without a terminal on a machine "
     "that has just started, else 0s)"},
    {"vmodule", 0, OPTION_TEXT, OPTION_KUBEADM | OPTION_HIDDEN,
     offsetof(struct program_options, vmodule), "PATTERN",
     "accepted and ignored: -v sets how much winjoin logs"},
    {"control-plane", 0, OPTION_BOOL, OPTION_KUBEADM | OPTION_HIDDEN,
     offsetof(struct program_options, control_plane), "",
     "refused: a control plane does not run on Windows"},
    {"certificate-key", 0, OPTION_SECRET, OPTION_KUBEADM | OPTION_HIDDEN,
     offsetof(struct program_options, certificate_key), "KEY", "for a control plane"},
    {"apiserver-advertise-address", 0, OPTION_TEXT, OPTION_KUBEADM | OPTION_HIDDEN,
     offsetof(struct program_options, apiserver_advertise_address), "IP", "for a control plane"},
    {"apiserver-bind-port", 0, OPTION_NUMBER, OPTION_KUBEADM | OPTION_HIDDEN,
     offsetof(struct program_options, apiserver_bind_port), "PORT", "for a control plane"},
    {0},
};
const struct option_group join_run_group = {"Run", run_options};

static const struct option upgrade_options[] = {
    {"drain", 0, OPTION_BOOL, 0, offsetof(struct program_options, drain), "",
     "cordon the node and evict its pods first; allow them again at the end"},
    {"patches", 0, OPTION_TEXT, 0, AT(patches), "DIR",
     "folder with kubeletconfiguration patches, as the join was given"},
    {"verify", 0, OPTION_CHOICE, 0, AT(verify), "full|node|none",
     "test the pod network: all flows, those inside the cluster, none"},
    {"ignore-preflight-errors", 0, OPTION_LIST, OPTION_EMPTY, AT(ignore_preflight_errors), "CHECK",
     "checks whose errors become warnings (KubeletVersion), or \"all\""},
    {"timeout", 0, OPTION_DURATION, OPTION_POSITIVE, AT(timeout), "DURATION",
     "limit of tries at a mirror (default 1m)"},
    {"dry-run", 0, OPTION_BOOL, 0, AT(dry_run), "", "print what would be done; change nothing"},
    {0},
};
const struct option_group upgrade_group = {"Upgrade", upgrade_options};

static const struct option prepare_options[] = {
    {"images", 0, OPTION_LIST, 0, offsetof(struct program_options, pull), "IMAGE",
     "image to pull and unpack; may be repeated"},
    {"network-mode", 0, OPTION_NETWORK_MODE, 0, AT(network_mode), NULL,
     "how pods will be connected (default: overlay)"},
    {"network-plugin", 0, OPTION_NETWORK_PLUGIN, 0, AT(network_plugin), NULL,
     "plugin that will create pod endpoints and routes to other nodes"},
    {"timeout", 0, OPTION_DURATION, OPTION_POSITIVE, AT(timeout), "DURATION",
     "limit of tries at a mirror (default 1m)"},
    {"install-features", 0, OPTION_BOOL, 0, AT(install_features), "",
     "install the Windows feature Containers where it is missing; exit code 6 asks for a restart"},
    {"apply-host-fixes", 0, OPTION_BOOL, 0, AT(apply_host_fixes), "",
     "set the registry values that upstream's images have on this build of Windows; reset undoes "
     "that"},
    {"ignore-preflight-errors", 0, OPTION_LIST, OPTION_EMPTY, AT(ignore_preflight_errors), "CHECK",
     "checks whose errors become warnings, or \"all\""},
    {0},
};
const struct option_group prepare_group = {"Prepare", prepare_options};

static const struct option certs_options[] = {
    {"timeout", 0, OPTION_DURATION, OPTION_POSITIVE, AT(timeout), "DURATION",
     "limit of the wait for an approval (default 5m)"},
    {0},
};
const struct option_group certs_group = {"Renewal", certs_options};
