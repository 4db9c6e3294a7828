/* Has a join's options, what was found, and what was done. join/run.h runs it. */
#pragma once

#include "diag/reports/report.h"
#include "host/http.h"
#include "join/configuration/cluster_config.h"
#include "join/configuration/join_options.h"
#include "join/discovery/discovery.h"
#include "join/kubelet/kubelet_files.h"
#include "join/progress/progress.h"
#include "join/services/service_watch.h"
#include "join/undo/journal.h"
#include "join/undo/reset.h"
#include "kube/client.h"
#include "kube/node.h"
#include "netsetup/nic/nic.h"
#include "netsetup/plan/network_plan.h"
#include "services/artifacts/artifacts.h"
#include "services/containerd_settings.h"

/* Facts, each found when first needed (join/found/need.h). Unknown parts are empty. */
struct join_found {
    /* The given options; where nothing was given, the cluster's defaults, and on a joined node what
     * its join chose. Without the tokens. */
    struct join_options options;
    struct patches patches; /* Patches of --patches, or of the node's join */
    struct host_facts facts;
    char *node_name;
    /* node_name is made up, because the host name is not valid for a node; preflight refuses it. */
    bool odd_host_name;
    /* Result of discovery; it has no kubeconfig when discovery has not run or is not needed. */
    struct discovery_result discovery;
    /* Client for the API server; it has no server until it is opened. */
    struct kube_client client;
    bool runs_no_programs; /* Preflight does not run programs of the node */
    /* The client uses the node's own identity, not a bootstrap token. */
    bool client_is_node;
    /* Configuration of the cluster; it has no `kubelet` until it is read. */
    struct cluster_config cluster;
    json_t *kubelet_config;                 /* Content of the kubelet's config.yaml */
    struct kubelet_changes kubelet_changes; /* Differences of kubelet_config from the cluster's */
    struct text_list kubelet_arguments;     /* The user's arguments for the kubelet */
    struct text_list service_proxy;         /* Proxy variables from service_proxy() */
    /* Settings from find_containerd(); they have no pipe before that call. */
    struct containerd_settings containerd;
    struct bundle *bundle; /* Open bundle from programs_bundle() */
    /* Known digests from programs_unlike(); empty before that call. */
    struct artifacts known;
    /* Versions from programs_node_version(); NULL when not asked yet. */
    char *kubelet_version;
    char *kube_proxy_version;
    struct hns_version hns; /* Version of HNS; 0.0 when not asked yet */
    /* Adapter of the node; it has no alias until it is chosen. */
    struct nic_snapshot nic;
    char node_ip[IP_TEXT_MAX];      /* The node's address; "" when unknown */
    char node_ips[2 * IP_TEXT_MAX]; /* Addresses for the kubelet, one of each family */
    /* The Node object; it has no name until it is read. */
    struct kube_node node;
    /* Plan of the network; it has no name until it is made. */
    struct network_plan plan;
    json_t *peers; /* Routes to other nodes (netsetup/routes/routes.h); NULL when not read */
    json_t *look;  /* Result of diag_look(); NULL when not called yet */
    /* Result of the network test; it has no cells until something is measured. */
    struct diag_report report;
};

struct join_phase;
struct upgrade;

/* Zero-initialize, fill the given members, then call join_open() and at the end join_close().
 * Between these calls the struct must stay at its address. */
struct join {
    /* Given by the caller; borrowed. */
    struct host *host;
    struct http *http;
    const struct join_options *asked;
    const void *probe_program; /* Bytes of winjoin-probe.exe */
    size_t probe_program_len;
    bool unattended;  /* There is no terminal, so no user watches this join */
    bool phase_alone; /* One phase alone runs */
    /* An upgrade whose phases are run (join/upgrade/upgrade.h); NULL means a join. */
    struct upgrade *upgrade;
    const struct join_phase *phases; /* The phases to run; NULL means those of a join */
    size_t phase_count;
    /* Called when a run failed; NULL means what a failed join does (join/run.c). */
    void (*failed)(struct join *join, struct error *err);
    /* Ids of the phases that --skip-phases names. */
    struct text_list skipped;
    struct join_found found;
    /* Journals of all changes and, on a prepared server only, of this join. */
    struct journal journal, joining;
    struct join_progress progress; /* The caller sets its listener */
    bool was_node;                 /* The machine had joined before this call */
    bool changed;                  /* Phases have changed the machine */
    bool finished;                 /* Set by a phase when later ones have nothing to do */
    bool rolled_back;              /* The changes were undone after a failure */
    struct reset_result undone;
    struct service_watch watch; /* The service that the running phase has started */
    struct image_pulls *images; /* Images being pulled (join/phases/images.c) */
    /* Options that stay with the node (join_option.kept), by name, for later phases and
     * upgrades. */
    json_t *kept;
    bool keeps_options; /* A whole join takes them from the last one */
    bool completes;     /* When this run succeeds, its options are those of a completed join */
};
