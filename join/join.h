/* A join: its options, what was found, and what was done. join/run.h runs it. */
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

/* What was found, each part when it is first needed (join/found/need.h). Unknown parts are
 * empty. */
struct join_found {
    /* The given options; where nothing was given, the cluster's defaults, and on a joined node what
     * its join chose. Without the tokens. */
    struct join_options options;
    struct host_facts facts;
    char *node_name;
    /* node_name comes from a host name that is no valid node name; preflight refuses it. */
    bool odd_host_name;
    /* Without kubeconfig: discovery has not run, or is not needed. */
    struct discovery_result discovery;
    struct kube_client client; /* Without server: not opened yet */
    bool only_looks;           /* A preflight: programs of the node are not run */
    /* The client uses the node's own identity, not a bootstrap token. */
    bool client_is_node;
    struct cluster_config cluster;          /* Without kubelet: not read yet */
    json_t *kubelet_config;                 /* Content of the kubelet's config.yaml */
    struct kubelet_changes kubelet_changes; /* Differences from the cluster's document */
    struct text_list kubelet_arguments;     /* The user's arguments, as words */
    struct text_list service_proxy;         /* From service_proxy() */
    /* From find_containerd(); without pipe: not looked for yet */
    struct containerd_settings containerd;
    struct bundle *bundle; /* From programs_bundle() */
    /* From programs_unlike(); without items: not asked yet */
    struct artifacts known;
    char *kubelet_version;          /* From programs_kubelet_version() */
    char *kube_proxy_version;       /* From programs_kube_proxy_version() */
    struct hns_version hns;         /* 0.0: not asked yet */
    struct nic_snapshot nic;        /* Without alias: no adapter chosen yet */
    char node_ip[IP_TEXT_MAX];      /* The node's address; "": unknown */
    char node_ips[2 * IP_TEXT_MAX]; /* Addresses for the kubelet, one of each family */
    struct kube_node node;          /* Without name: not read yet */
    struct network_plan plan;       /* Without name: not made yet */
    json_t *peers; /* Routes to other nodes (netsetup/routes/routes.h); NULL: not read */
    json_t *look;  /* From diag_look(); NULL: not called yet */
    struct diag_report report; /* Without cells: nothing measured yet */
};

struct join_phase;
struct upgrade;

/* Zero-initialize, fill the given members, then join_open() and at the end join_close(). Between
 * these calls the struct must stay at its address. */
struct join {
    /* Given by the caller; borrowed. */
    struct host *host;
    struct http *http;
    const struct join_options *asked;
    const void *probe_program; /* bytes of winjoin-probe.exe */
    size_t probe_program_len;
    bool unattended; /* Without a terminal, so nobody watches */
    /* An upgrade whose phases are run (join/upgrade/upgrade.h); NULL: a join. */
    struct upgrade *upgrade;
    const struct join_phase *phases; /* The phases to run; NULL: those of a join */
    size_t phase_count;
    /* Called after a run that failed; NULL: the function for joins (join/undo/failure.h). */
    void (*failed)(struct join *join, struct error *err);
    struct text_list skipped; /* ids of phases not to run: --skip-phases, resolved */
    struct join_found found;
    struct journal journal, joining; /* `joining` is used on a prepared server only */
    struct join_progress progress;   /* Its listener is given by the caller */
    bool was_node;                   /* The machine had joined before this call */
    bool changed;                    /* Phases have changed the machine */
    bool finished;                   /* Set by a phase when later ones have nothing to do */
    bool rolled_back;                /* The changes were undone after a failure: */
    struct reset_result undone;
    struct service_watch watch; /* the service that the running phase has started */
    struct image_pulls *images; /* Images being pulled (join/phases/images.c) */
};
