/* The flags of diag. */
#include "cmd/program.h"
#include "diag/cluster/cluster.h"

#define AT(field) offsetof(struct program_options, field)

static const struct option diag_options[] = {
    {"replay", 0, OPTION_TEXT, 0, AT(replay), "FILE",
     "evaluate a saved report (diag -o json) or a collection again; measures nothing"},
    {"collect", 0, OPTION_TEXT, 0, AT(collect), "FILE",
     "also write all evidence (HNS, routes, firewall, services, logs, events, versions; of a "
     "cluster what its API says of the network) to this .zip"},
    {"capture", 0, OPTION_BOOL, 0, AT(join.verify_capture), "",
     "with --collect: ask a flow that fails again while Windows' Packet Monitor (pktmon) captures "
     "packets; says why they are dropped"},
    {"compare", 0, OPTION_TEXT, 0, AT(compare), "FILE",
     "also tell what changed since that report or collection; exit code 5 only where it is worse"},
    {"count", 0, OPTION_NUMBER, OPTION_POSITIVE, AT(join.verify_attempts), "N",
     "attempts of each flow, for latency and loss (default 3, of a whole cluster 1; at most 100)"},
    {"watch", 0, OPTION_DURATION, OPTION_POSITIVE, AT(watch), "DURATION",
     "test again and again with this pause until Ctrl-C, and print only what changed; with -o json "
     "an object a line"},
    JOIN_TARGET_OPTIONS(JOIN_FLAG){0},
};
static const struct option cluster_options[] = {
    {"kubeconfig", 0, OPTION_TEXT, 0, AT(kubeconfig), "FILE",
     "test the cluster of this kubeconfig from here: a probe pod on each chosen node, in a "
     "namespace that is deleted at the end"},
    {"context", 0, OPTION_TEXT, 0, AT(context), "NAME",
     "context of the kubeconfig; without --kubeconfig that of KUBECONFIG or ~/.kube/config"},
    {"nodes", 0, OPTION_LIST, 0, AT(nodes), "NAME,...",
     "only these nodes (default: all, of more than 40 a sample: those that say that something is "
     "wrong with them, and some of each kind)"},
    {"all-nodes", 0, OPTION_BOOL, 0, AT(all_nodes), "",
     "all nodes of a large cluster, not a sample: a probe pod on each"},
    {"node-selector", 0, OPTION_TEXT, 0, AT(node_selector), "LABELS",
     "only nodes with these labels, as kubectl get --selector takes them"},
    {"image", 0, OPTION_TEXT, 0, AT(image), "IMAGE",
     "image of the probes: agnhost (default " CLUSTER_PROBE_IMAGE ")"},
    {0},
};
const struct option_group diag_cluster_group = {"The whole cluster", cluster_options};
const struct option_group diag_group = {"Diagnosis", diag_options};
