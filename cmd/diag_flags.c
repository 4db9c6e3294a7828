/* The flags of diag. */
#include "cmd/program.h"
#include "diag/cluster/cluster.h"

#define AT(field) offsetof(struct program_options, field)

static const struct option diag_options[] = {
    {"replay", 0, OPTION_TEXT, AT(replay), "FILE",
     "evaluate a saved report (diag -o json) or a collection again; measures nothing", 0},
    {"collect", 0, OPTION_TEXT, AT(collect), "FILE",
     "also write all evidence (HNS, routes, firewall, services, logs, events, versions; of a "
     "cluster what its API says of the network) to this .zip",
     0},
    {"capture", 0, OPTION_BOOL, AT(join.verify_capture), "",
     "with --collect: ask a flow that fails again while Windows' Packet Monitor (pktmon) captures "
     "packets; says why they are dropped",
     0},
    {"compare", 0, OPTION_TEXT, AT(compare), "FILE",
     "also tell what changed since that report or collection; exit code 5 only where it is worse",
     0},
    {"count", 0, OPTION_NUMBER, AT(count), "N",
     "attempts of each flow, for latency and loss (default 3, of a whole cluster 1; at most 100)",
     0},
    {"watch", 0, OPTION_DURATION, AT(watch), "DURATION",
     "test again and again with this pause until Ctrl-C, and print only what changed; with -o json "
     "an object a line",
     OPTION_POSITIVE},
    {"external-ip", 0, OPTION_TEXT, AT(external_ip), "IP:PORT", "external target, by address", 0},
    {"external-name", 0, OPTION_TEXT, AT(external_name), "NAME:PORT", "external target, by name",
     0},
    {"external-dns", 0, OPTION_TEXT, AT(external_dns), "IP", "external DNS server, for UDP", 0},
    {0},
};
static const struct option cluster_options[] = {
    {"kubeconfig", 0, OPTION_TEXT, AT(kubeconfig), "FILE",
     "test the cluster of this kubeconfig from here: a probe pod on each chosen node, in a "
     "namespace that is deleted at the end",
     0},
    {"context", 0, OPTION_TEXT, AT(context), "NAME",
     "context of the kubeconfig; without --kubeconfig that of KUBECONFIG or ~/.kube/config", 0},
    {"nodes", 0, OPTION_LIST, AT(nodes), "NAME,...",
     "only these nodes (default: every Windows node, and a Linux node of each kind)", 0},
    {"node-selector", 0, OPTION_TEXT, AT(node_selector), "LABELS",
     "only nodes with these labels, as kubectl get --selector takes them", 0},
    {"image", 0, OPTION_TEXT, AT(image), "IMAGE",
     "image of the probes: agnhost (default " CLUSTER_PROBE_IMAGE ")", 0},
    {0},
};
const struct option_group diag_cluster_group = {"The whole cluster", cluster_options};
const struct option_group diag_group = {"Diagnosis", diag_options};
