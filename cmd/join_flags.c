/* The flags of join, of the rows of its options, and those of the verbs that take some of them. */
#include "cmd/program.h"

#define AT(field) offsetof(struct program_options, join.field)

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
