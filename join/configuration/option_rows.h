/* The options of a join, one row each. The columns of a row:
 *   field of struct join_options
 *   type (enum option_type)
 *   flag, NULL where only files and the cluster's defaults give it
 *   OPTION_... bits of the flag (cmd/options.h)
 *   word for the value in the help ("FILE"); of a CHOICE its choices
 *   help, which is also the description in the JSON Schema
 *   other members of struct join_option: paths in both documents, check
 * A table is one heading of the help. */
#pragma once

#define JOIN_CLUSTER_OPTIONS(ROW)                                                                  \
    ROW(config, TEXT, "config", OPTION_WITH_CONFIG | OPTION_EMPTY, "FILE",                         \
        "file with a JoinConfiguration, a NodeConfiguration or both")                              \
    ROW(discovery_file, TEXT, "discovery-file", OPTION_KUBEADM, "FILE",                            \
        "kubeconfig that identifies the cluster, instead of a token",                              \
        .join = "discovery.file.kubeConfigPath", .is_path = true)                                  \
    ROW(discovery_token, SECRET, "discovery-token", OPTION_KUBEADM, "TOKEN",                       \
        "token for discovery only", .join = "discovery.bootstrapToken.token")                      \
    ROW(discovery_token_ca_cert_hash, LIST, "discovery-token-ca-cert-hash", OPTION_KUBEADM,        \
        "HASH", "pin of the cluster's CA, \"sha256:<hex>\"; may be repeated",                      \
        .join = "discovery.bootstrapToken.caCertHashes")                                           \
    ROW(discovery_token_unsafe_skip_ca_verification, BOOL,                                         \
        "discovery-token-unsafe-skip-ca-verification", OPTION_KUBEADM, "",                         \
        "trust the token only, without a CA hash",                                                 \
        .join = "discovery.bootstrapToken.unsafeSkipCAVerification")                               \
    ROW(token, SECRET, "token", OPTION_KUBEADM, "TOKEN",                                           \
        "bootstrap token, \"<id>.<secret>\"; \"-\" reads it from standard input")                  \
    ROW(token_file, TEXT, "token-file", 0, "FILE", "read the bootstrap token from a file")         \
    ROW(tls_bootstrap_token, SECRET, "tls-bootstrap-token", OPTION_KUBEADM, "TOKEN",               \
        "token for the TLS bootstrap only", .join = "discovery.tlsBootstrapToken")                 \
    ROW(timeout, DURATION, "timeout", OPTION_POSITIVE, "DURATION",                                 \
        "time limit of discovery (default 5m) and of retries at a mirror (1m)")

#define JOIN_NODE_OPTIONS(ROW)                                                                     \
    ROW(node_name, TEXT, "node-name", OPTION_KUBEADM | OPTION_WITH_CONFIG, "NAME",                 \
        "name of the Node (default: the host name in lower case)",                                 \
        .join = "nodeRegistration.name", .kept = true)                                             \
    ROW(node_ip, TEXT, "node-ip", 0, "IP", "the node's address (default: that of the adapter)",    \
        .check = node_address_check, .kept = true)                                                 \
    ROW(pod_cidrs, LIST, "pod-cidr", 0, "CIDR",                                                    \
        "this node's pod subnet, with dual stack one of each family (default: the Node's "         \
        "podCIDRs)",                                                                               \
        .node = "network.podCIDRs", .max = 1, .check = node_prefix_check, .kept = true)            \
    ROW(node_labels, TEXT, "node-labels", OPTION_EMPTY, "LABELS",                                  \
        "labels the kubelet registers with", .check = node_labels_check, .kept = true)             \
    ROW(register_with_taints, TEXT, "register-with-taints", OPTION_EMPTY, "TAINTS",                \
        "taints the kubelet registers with", .check = node_taints_check, .kept = true)             \
    ROW(cri_socket, TEXT, "cri-socket", OPTION_KUBEADM, "SOCKET",                                  \
        "container runtime (default npipe:////./pipe/containerd-containerd)",                      \
        .join = "nodeRegistration.criSocket", .kept = true)                                        \
    ROW(patches, TEXT, "patches", OPTION_KUBEADM, "DIR",                                           \
        "folder with kubeletconfiguration patches, as kubeadm takes them",                         \
        .join = "patches.directory", .is_path = true)                                              \
    ROW(tls_bootstrap, CHOICE, "tls-bootstrap", 0, "winjoin|kubelet",                              \
        "program that requests the client certificate", .kept = true)

#define JOIN_NETWORK_OPTIONS(ROW)                                                                  \
    ROW(network_mode, CHOICE, "network-mode", 0, "@mode",                                          \
        "how pods are connected (default: what the cluster's flannel says, else overlay)",         \
        .node = "network.mode", .check = network_mode_check)                                       \
    ROW(network_plugin, CHOICE, "network-plugin", 0, "@plugin",                                    \
        "plugin that creates pod endpoints and routes to other nodes", .node = "network.plugin",   \
        .check = network_plugin_check)                                                             \
    ROW(network_name, TEXT, "network-name", 0, "NAME",                                             \
        "HNS network (default flannel.<VNI> or cbr0)", .node = "network.name",                     \
        .check = node_line_check)                                                                  \
    ROW(adapter, TEXT, "adapter", 0, "NAME",                                                       \
        "network adapter under the virtual switch (default: the one with the default route)",      \
        .node = "network.adapter", .check = node_line_check, .kept = true)                         \
    ROW(vni, NUMBER, "vni", 0, "N", "overlay: VXLAN network ID, 4096 or higher",                   \
        .node = "network.vni", .min = VXLAN_WINDOWS_VNI_MIN, .max = VXLAN_VNI_MAX)                 \
    ROW(vxlan_port, NUMBER, "vxlan-port", 0, "PORT", "overlay: UDP port (default 4789)",           \
        .node = "network.vxlanPort", .min = 1, .max = 65535)                                       \
    ROW(routes, CHOICE, "routes", 0, "own|print|none",                                             \
        "l2bridge, l2tunnel: routes to other nodes' pods are added on this node (own, default), "  \
        "printed for you to add to the network (print), or the network has them (none)",           \
        .node = "network.routes")                                                                  \
    ROW(kube_proxy, CHOICE, "kube-proxy", 0, "service|none",                                       \
        "run kube-proxy as a service, or leave it to the cluster", .node = "kubeProxy.run",        \
        .kept = true)                                                                              \
    ROW(dsr, CHOICE, "dsr", 0, "auto|on|off", "direct server return", .node = "kubeProxy.dsr",     \
        .kept = true)                                                                              \
    ROW(verify, CHOICE, "verify", 0, "full|node|none",                                             \
        "test the pod network: all flows, those inside the cluster, none", .node = "verify.level")

/* Options that say where programs come from. */
#define JOIN_SOURCE_OPTIONS(ROW)                                                                   \
    ROW(bundle, TEXT, "bundle", 0, "FILE",                                                         \
        "folder or .zip with the node's programs and winjoin.lock", .node = "artifacts.bundle",    \
        .check = node_line_check, .is_path = true)                                                 \
    ROW(mirror, TEXT, "mirror", 0, "URL",                                                          \
        "the same, unpacked on a web server: https://HOST/FOLDER", .node = "artifacts.mirror",     \
        .check = join_mirror_check)                                                                \
    ROW(source_base, TEXT, "source-base", 0, "URL",                                                \
        "without --bundle and --mirror: proxy of upstream's hosts, URL/dl.k8s.io/...; \"none\" "   \
        "fetches nothing",                                                                         \
        .node = "artifacts.sourceBase", .check = join_source_base_check)                           \
    ROW(catalog, TEXT, "catalog", 0, "FILE",                                                       \
        "where programs are published, as \"config print catalog\" prints it",                     \
        .node = "artifacts.catalog", .check = node_line_check, .is_path = true)

#define JOIN_PROGRAMS_OPTIONS(ROW)                                                                 \
    JOIN_SOURCE_OPTIONS(ROW)                                                                       \
    ROW(sandbox_image, TEXT, "sandbox-image", 0, "IMAGE",                                          \
        "image of each pod's sandbox, for Windows (default: upstream's pause, from the cluster's " \
        "imageRepository where it has one)",                                                       \
        .node = "artifacts.sandboxImage", .check = join_sandbox_image_check, .kept = true)         \
    ROW(kubernetes_version, TEXT, "kubernetes-version", 0, "VERSION",                              \
        "version that kubelet and kube-proxy must have (default: any that the cluster supports)",  \
        .node = "artifacts.kubernetesVersion", .check = join_kubernetes_version_check)

#define JOIN_CHECKS_OPTIONS(ROW)                                                                   \
    ROW(install_features, BOOL, "install-features", 0, "",                                         \
        "install the Windows feature Containers where it is missing, and Hyper-V where a "         \
        "RuntimeClass of the cluster needs it; exit code 6 asks for a restart")                    \
    ROW(restart, BOOL, "restart", 0, "",                                                           \
        "restart Windows where that is needed first; the join continues by itself afterwards")     \
    ROW(ignore_preflight_errors, LIST, "ignore-preflight-errors",                                  \
        OPTION_KUBEADM | OPTION_WITH_CONFIG, "CHECK",                                              \
        "checks whose errors become warnings, or \"all\"",                                         \
        .join = "nodeRegistration.ignorePreflightErrors", .adds = true)

#define JOIN_IMAGE_OPTIONS(ROW)                                                                    \
    ROW(images, LIST, "images", 0, "IMAGE",                                                        \
        "image to pull and unpack before pods start; may be repeated", .node = "images.pull",      \
        .check = node_image_check)

#define JOIN_RUN_OPTIONS(ROW)                                                                      \
    JOIN_IMAGE_OPTIONS(ROW)                                                                        \
    ROW(dry_run, BOOL, "dry-run", OPTION_KUBEADM | OPTION_WITH_CONFIG, "",                         \
        "print what would be done; change nothing", .join = "dryRun", .v1beta4 = true)             \
    ROW(skip_phases, LIST, "skip-phases", OPTION_KUBEADM | OPTION_WITH_CONFIG, "PHASE",            \
        "phases to skip (winjoin join phase list)", .join = "skipPhases")                          \
    ROW(join_timeout, DURATION, "join-timeout", 0, "DURATION",                                     \
        "time limit of the whole join (default: none; each wait has its own)")                     \
    ROW(on_failure, CHOICE, "on-failure", 0, "keep|rollback",                                      \
        "when the join fails: keep what is done, so that the same command continues, or undo it")  \
    ROW(existing_services, CHOICE, "existing-services", 0, "refuse|adopt",                         \
        "services containerd and kubelet that winjoin did not make: refuse to join, or go on "     \
        "with them (default: refuse)",                                                             \
        .kept = true)                                                                              \
    ROW(apply_host_fixes, BOOL, "apply-host-fixes", 0, "",                                         \
        "set the registry values that upstream's images have on this build of Windows (winjoin "   \
        "capabilities lists them); reset undoes that",                                             \
        .kept = true)                                                                              \
    ROW(start_spread, DURATION, "start-spread", 0, "DURATION",                                     \
        "longest random pause before the first request (default: 10s without a terminal on a "     \
        "machine that has just started, else 0s)")                                                 \
    ROW(vmodule, TEXT, "vmodule", OPTION_KUBEADM | OPTION_HIDDEN, "PATTERN",                       \
        "accepted and ignored: -v sets how much winjoin logs")                                     \
    ROW(control_plane, BOOL, "control-plane", OPTION_KUBEADM | OPTION_HIDDEN, "",                  \
        "refused: a control plane does not run on Windows")                                        \
    ROW(certificate_key, SECRET, "certificate-key", OPTION_KUBEADM | OPTION_HIDDEN, "KEY",         \
        "for a control plane")                                                                     \
    ROW(apiserver_advertise_address, TEXT, "apiserver-advertise-address",                          \
        OPTION_KUBEADM | OPTION_HIDDEN, "IP", "for a control plane")                               \
    ROW(apiserver_bind_port, NUMBER, "apiserver-bind-port", OPTION_KUBEADM | OPTION_HIDDEN,        \
        "PORT", "for a control plane")

/* Options that are flags of the commands diag and config cluster. */
#define JOIN_TARGET_OPTIONS(ROW)                                                                   \
    ROW(external_ip, TEXT, "external-ip", 0, "IP:PORT", "external target, by address",             \
        .node = "verify.external.ip", .check = node_target_address_check)                          \
    ROW(external_name, TEXT, "external-name", 0, "NAME:PORT", "external target, by name",          \
        .node = "verify.external.name", .check = node_target_name_check)                           \
    ROW(external_dns, TEXT, "external-dns", 0, "IP", "external DNS server, for UDP",               \
        .node = "verify.external.dns", .check = node_target_address_check)

/* Options without a flag. The endpoint is given as an argument without a name. */
#define JOIN_FILE_OPTIONS(ROW)                                                                     \
    ROW(endpoint, TEXT, NULL, 0, NULL, NULL, .join = "discovery.bootstrapToken.apiServerEndpoint") \
    ROW(ca_cert_path, TEXT, NULL, 0, NULL, NULL, .join = "caCertPath", .kept = true)               \
    ROW(kubelet_health_check_timeout, DURATION, NULL, 0, NULL, NULL,                               \
        .join = "timeouts.kubeletHealthCheck", .v1beta4 = true)                                    \
    ROW(kubernetes_api_call_timeout, DURATION, NULL, 0, NULL, NULL,                                \
        .join = "timeouts.kubernetesAPICall", .v1beta4 = true)                                     \
    ROW(tls_bootstrap_timeout, DURATION, NULL, 0, NULL, NULL, .join = "timeouts.tlsBootstrap",     \
        .v1beta4 = true)                                                                           \
    ROW(discovery_timeout, DURATION, NULL, 0, NULL, NULL, .join = "timeouts.discovery",            \
        .v1beta4 = true)                                                                           \
    ROW(service_cidrs, LIST, NULL, 0, NULL, "prefixes of Services (default: the cluster's)",       \
        .node = "network.serviceCIDRs", .check = node_prefix_check, .kept = true)                  \
    ROW(exclude_from_nat, LIST, NULL, 0, NULL, "prefixes that pods reach with their own address",  \
        .node = "network.excludeFromNAT", .check = node_prefix_check, .kept = true)                \
    ROW(dual_stack, CHOICE, NULL, 0, "auto|on|off",                                                \
        "IPv6 beside IPv4; auto: where the cluster has both", .node = "network.dualStack",         \
        .kept = true)                                                                              \
    ROW(lock, TEXT, NULL, 0, NULL,                                                                 \
        "lock file of this machine, instead of that of bundle, mirror or upstream",                \
        .node = "artifacts.lock", .check = node_line_check, .is_path = true)                       \
    ROW(images_required, LIST, NULL, 0, NULL, "images to pull, without which the join fails",      \
        .node = "images.required", .check = node_image_check)                                      \
    ROW(verify_timeout, DURATION, NULL, 0, NULL, "time limit of one attempt of a flow",            \
        .node = "verify.timeout")                                                                  \
    ROW(kubelet_service_args, LIST, NULL, 0, NULL,                                                 \
        "arguments of the kubelet, each \"--name=value\"", .node = "services.kubelet.extraArgs",   \
        .check = node_argument_check, .kept = true)                                                \
    /* The texts "name=value" of nodeRegistration.kubeletExtraArgs. Names have no dashes and may   \
     * repeat; the order is that of the file. */                                                   \
    ROW(kubelet_extra_args, LIST, NULL, 0, NULL, NULL, .kept = true)

#define JOIN_OPTIONS(ROW)                                                                          \
    JOIN_CLUSTER_OPTIONS(ROW)                                                                      \
    JOIN_NODE_OPTIONS(ROW)                                                                         \
    JOIN_NETWORK_OPTIONS(ROW)                                                                      \
    JOIN_PROGRAMS_OPTIONS(ROW)                                                                     \
    JOIN_CHECKS_OPTIONS(ROW)                                                                       \
    JOIN_RUN_OPTIONS(ROW)                                                                          \
    JOIN_TARGET_OPTIONS(ROW)                                                                       \
    JOIN_FILE_OPTIONS(ROW)
