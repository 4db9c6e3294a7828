/* Makes the flags of join from the rows of its options, and has the flags of diag and of the verbs
 * that share some flags of join. */
#include "cmd/program.h"

#include "diag/cluster/cluster.h"

#define PROGRAM_AT(field) offsetof(struct program_options, field)
#define AT(field) PROGRAM_AT(join.field)

static const struct option cluster_options[] = {JOIN_CLUSTER_OPTIONS(JOIN_FLAG){0}};
static const struct option node_options[] = {JOIN_NODE_OPTIONS(JOIN_FLAG){0}};
static const struct option network_options[] = {JOIN_NETWORK_OPTIONS(JOIN_FLAG){0}};
static const struct option programs_options[] = {JOIN_PROGRAMS_OPTIONS(JOIN_FLAG){0}};
static const struct option checks_options[] = {JOIN_CHECKS_OPTIONS(JOIN_FLAG){0}};
static const struct option run_options[] = {JOIN_RUN_OPTIONS(JOIN_FLAG){0}};
const struct option_group join_cluster_group = {"Cluster", cluster_options},
                          join_node_group = {"Node", node_options},
                          join_network_group = {"Network", network_options},
                          join_programs_group = {"Programs", programs_options},
                          join_checks_group = {"Checks", checks_options},
                          join_run_group = {"Run", run_options};

static const struct option upgrade_options[] = {
    {"drain", 0, OPTION_BOOL, 0, PROGRAM_AT(drain), "",
     "cordon the node and evict its pods first; allow them again at the end"},
    {"patches", 0, OPTION_TEXT, 0, AT(patches), "DIR",
     "folder with kubeletconfiguration patches (default: the patches that the join was given)"},
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

static const struct option prepare_programs_options[] = {
    JOIN_SOURCE_OPTIONS(JOIN_FLAG){
        "kubernetes-version", 0, OPTION_TEXT, 0, AT(kubernetes_version), "VERSION",
        "version that kubelet and kube-proxy must have; needed where no --bundle says it"},
    {0},
};
const struct option_group prepare_programs_group = {"Programs", prepare_programs_options};

static const struct option prepare_options[] = {
    JOIN_IMAGE_OPTIONS(JOIN_FLAG){"network-mode", 0, OPTION_CHOICE, 0, AT(network_mode), "@mode",
                                  "how pods will be connected (default: overlay)"},
    {"network-plugin", 0, OPTION_CHOICE, 0, AT(network_plugin), "@plugin",
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

/* ---- flags of diag ---- */

static const struct option diag_options[] = {
    {"replay", 0, OPTION_TEXT, 0, PROGRAM_AT(replay), "FILE",
     "evaluate a saved report (diag -o json) or a collection again; measures nothing"},
    {"collect", 0, OPTION_TEXT, 0, PROGRAM_AT(collect), "FILE",
     "also write all evidence (HNS, routes, firewall, services, logs, events, versions; of a "
     "cluster what its API says of the network) to this .zip"},
    {"capture", 0, OPTION_BOOL, 0, AT(verify_capture), "",
     "with --collect: ask a flow that fails again while Windows' Packet Monitor (pktmon) captures "
     "packets; says why they are dropped"},
    {"compare", 0, OPTION_TEXT, 0, PROGRAM_AT(compare), "FILE",
     "also tell what changed since that report or collection; exit code 5 only where it is worse"},
    {"count", 0, OPTION_NUMBER, OPTION_POSITIVE, AT(verify_attempts), "N",
     "attempts of each flow, for latency and loss (default 3, of a whole cluster 1; at most 100)"},
    {"watch", 0, OPTION_DURATION, OPTION_POSITIVE, PROGRAM_AT(watch), "DURATION",
     "test again and again with this pause until Ctrl-C, and print only what changed; with -o json "
     "an object a line"},
    JOIN_TARGET_OPTIONS(JOIN_FLAG){0},
};
static const struct option diag_cluster_options[] = {
    {"kubeconfig", 0, OPTION_TEXT, 0, PROGRAM_AT(kubeconfig), "FILE",
     "test the cluster of this kubeconfig from here: a probe pod on each chosen node, in a "
     "namespace that is deleted at the end"},
    {"context", 0, OPTION_TEXT, 0, PROGRAM_AT(context), "NAME",
     "context of the kubeconfig; without --kubeconfig that of KUBECONFIG or ~/.kube/config"},
    {"nodes", 0, OPTION_LIST, 0, PROGRAM_AT(nodes), "NAME,...",
     "only these nodes (default: all, of more than 40 a sample: those that say that something is "
     "wrong with them, and some of each kind)"},
    {"all-nodes", 0, OPTION_BOOL, 0, PROGRAM_AT(all_nodes), "",
     "all nodes of a large cluster, not a sample: a probe pod on each"},
    {"node-selector", 0, OPTION_TEXT, 0, PROGRAM_AT(node_selector), "LABELS",
     "only nodes with these labels, as kubectl get --selector takes them"},
    {"image", 0, OPTION_TEXT, 0, PROGRAM_AT(image), "IMAGE",
     "image of the probes: agnhost (default " CLUSTER_PROBE_IMAGE ")"},
    {0},
};
const struct option_group diag_cluster_group = {"The whole cluster", diag_cluster_options};
const struct option_group diag_group = {"Diagnosis", diag_options};
