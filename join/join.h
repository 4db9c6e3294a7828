/* A join: what was asked, what was found, what was done. The runner is join/run.h. */
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

/* Filled as it is asked for (join/found/need.h); what is not known yet is empty. */
struct join_found {
    /* What was asked, and where nothing was: the cluster's own defaults, and on a joined node what
     * its join chose. Without the tokens. */
    struct join_options options;
    struct host_facts facts;
    char *node_name;
    bool odd_host_name; /* node_name is made up, as the host name cannot be a node's; preflight
                           refuses it */
    struct discovery_result discovery; /* no kubeconfig: there was none yet, or it is not needed */
    struct kube_client client;         /* no server: none yet */
    bool only_looks;                   /* a preflight: no program of the node is run */
    bool client_is_node;               /* the node's own identity, not a bootstrap token */
    struct cluster_config cluster;     /* no kubelet: not read */
    json_t *kubelet_config;            /* config.yaml */
    struct kubelet_changes kubelet_changes; /* what it has otherwise than the cluster's */
    struct text_list kubelet_arguments;     /* the user's, as words */
    struct text_list service_proxy;         /* service_proxy() */
    struct containerd_settings containerd;  /* no pipe: not looked at (find_containerd()) */
    struct bundle *bundle;                  /* programs_bundle() */
    struct artifacts known;                 /* programs_unlike(); no items: not asked yet */
    char *kubelet_version;                  /* programs_node_version(); NULL: not asked yet */
    char *kube_proxy_version;               /* the same */
    struct hns_version hns;                 /* 0.0: not asked */
    struct nic_snapshot nic;                /* no alias: not chosen */
    char node_ip[IP_TEXT_MAX];              /* where the node is; "": not known */
    char node_ips[2 * IP_TEXT_MAX];         /* for the kubelet: one of each family */
    struct kube_node node;                  /* no name: not read */
    struct network_plan plan;               /* no name: not made */
    json_t *peers; /* the routes to other nodes (netsetup/routes/routes.h); NULL: not read */
    json_t *look;  /* diag_look(); NULL: nobody looked */
    struct diag_report report; /* no cells: not measured */
};

struct join_phase;
struct upgrade;

/* Zero-initialise, fill what is given, join_open(); join_close(). Between them it is not moved. */
struct join {
    /* given; borrowed */
    struct host *host;
    struct http *http;
    const struct join_options *asked;
    const void *probe_program; /* bytes of winjoin-probe.exe */
    size_t probe_program_len;
    bool unattended;         /* a join that nobody looks at: there is no terminal */
    struct upgrade *upgrade; /* NULL: a join; else these are its phases (join/upgrade/upgrade.h) */
    const struct join_phase *phases; /* NULL: a join's */
    size_t phase_count;
    /* behind a run that failed; NULL: a join's (join/run.c) */
    void (*failed)(struct join *join, struct error *err);
    struct text_list skipped; /* ids of phases not to run: --skip-phases, resolved */
    struct join_found found;
    struct journal journal, joining; /* the second on a prepared server alone */
    struct join_progress progress;   /* its listener is given */
    bool was_node;                   /* it had joined before this call */
    bool changed;                    /* phases changed the machine */
    bool finished;                   /* said by a phase: the later ones have nothing to do */
    bool rolled_back;                /* after a failure; how: */
    struct reset_result undone;
    struct service_watch watch; /* the service that the running phase has started */
    struct image_pulls *images; /* under way (join/phases/images.c) */
};
