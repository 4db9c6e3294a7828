/* The join: its context, its phases (one table) and the runner. */
#ifndef JOIN_JOIN_H
#define JOIN_JOIN_H

#include <stdbool.h>

#include "base/error.h"
#include "diag/reports/report.h"
#include "host/host.h"
#include "host/http.h"
#include "host/wait.h"
#include "join/phases/client_certificate.h"
#include "join/configuration/cluster_config.h"
#include "join/discovery/discovery.h"
#include "join/configuration/join_options.h"
#include "join/undo/journal.h"
#include "join/kubelet/kubelet_files.h"
#include "kube/client.h"
#include "kube/node.h"
#include "netsetup/hns_features.h"
#include "netsetup/network_plan.h"
#include "netsetup/nic_guard.h"
#include "services/artifacts.h"
#include "services/service_table.h"

struct join;

/* One row of the table: `join phase list`, the progress, the help and the order all come from it.
 */
struct join_phase {
    const char *id;    /* "pod-network" */
    const char *title; /* "pod network": what the progress shows */
    const char *help;  /* one line */
    /* Does it; adds the fact that matters to join->detail. Safe to run again. */
    int (*run)(struct join *join, struct error *err);
    bool read_only; /* changes nothing on the host */
};
/* The phases in order; *ret_count rows. */
const struct join_phase *join_phases(size_t *ret_count);

enum join_event_state {
    JOIN_BEGIN,
    JOIN_WAITING, /* about once a second while something is waited for */
    JOIN_WARNING,
    JOIN_DONE,
    JOIN_SKIPPED,
    JOIN_FAILED,
};
struct join_event {
    enum join_event_state state;
    const struct join_phase *phase;
    const char *message;  /* "" or one line */
    const char *hint;     /* what would end a wait, or "" */
    unsigned waited_ms;   /* waiting */
    unsigned left_ms;     /* waiting: until the limit; 0 = unknown */
    unsigned duration_ms; /* done, failed */
};
typedef void join_progress(void *context, const struct join_event *event);

enum join_outcome { JOIN_PHASE_NOT_RUN, JOIN_PHASE_DONE, JOIN_PHASE_SKIPPED, JOIN_PHASE_FAILED };
struct join_phase_result {
    enum join_outcome outcome;
    unsigned duration_ms;
    char *detail;
};

/* The service that the running phase has started (join/phases/service_watch.h). */
struct service_watch {
    enum service_id id;
    unsigned ends;      /* how often it ended */
    uint64_t again_ms;  /* host_monotonic_ms() at which it is started again; 0: it runs */
    unsigned refused;   /* how often in a row the API server refused what it reads */
    uint64_t rights_ms; /* when the API server is asked again whether it refuses */
};

/* What one run knows. Filled by the phases as they go; join_open() and join_close(). */
struct join {
    /* given */
    struct host *host;
    struct http *http;
    struct join_options
        *options; /* the cluster's defaults are filled in by the configuration phase */
    join_progress *progress;
    void *progress_context;
    const void *probe_program; /* bytes of winjoin-probe.exe */
    size_t probe_program_len;
    bool unattended; /* a join that nobody looks at: there is no terminal */
    /* found */
    struct journal journal;
    struct host_facts facts;
    char *node_name;
    struct discovery_result discovery;
    bool has_discovery;
    struct kube_client client; /* bootstrap token or, later and on a joined node, the node itself */
    bool has_client;
    bool client_is_node;
    struct cluster_config cluster;
    bool has_cluster;
    json_t *kubelet_config;                 /* config.yaml; NULL until join_need_kubelet_config() */
    struct kubelet_changes kubelet_changes; /* what it has otherwise than the cluster's */
    struct bundle *bundle;                  /* programs_bundle() */
    char *kubelet_version;                  /* programs_kubelet_version() */
    struct text_list kubelet_arguments;     /* the user's, as words */
    struct hns_version hns;
    struct nic_snapshot nic;
    bool has_nic;
    struct kube_node node;
    bool has_node;
    struct network_plan plan;
    bool has_plan;
    struct diag_report report;
    bool has_report;
    struct text_list next;    /* what is left to do by hand */
    struct text_list skipped; /* ids of phases not to run: --skip-phases, resolved */
    /* of the phase that runs */
    const struct join_phase *phase;
    struct service_watch watch;
    struct text detail;
    struct text_list warnings;
    struct join_phase_result *results; /* one a phase */
    uint64_t started_ms;
    bool has_spread; /* start_spread_wait() */
};

/* Fills the host's facts, the node name and the journal; a name in --skip-phases that no phase has
 * is ERROR_USAGE. Takes over nothing: host, http and options are borrowed. */
int join_open(struct join *join, struct error *err);
void join_close(struct join *join);
/* Runs all phases but those of --skip-phases; stops at the first failure. */
int join_run(struct join *join, struct error *err);
/* Runs the phases before the first that changes the host: what a dry run may do. */
int join_run_looking(struct join *join, struct error *err);
/* Runs one phase by its id, or those that kubeadm's name for them means
 * (join/phases/phase_names.h); ERROR_USAGE when there is none of that name. */
int join_run_phase(struct join *join, const char *name, struct error *err);
/* JoinResult document. New reference. */
json_t *join_result_json(const struct join *join);

/* ---- for phases ---- */

void join_tell_waiting(struct join *join, unsigned waited_ms, unsigned left_ms, const char *hint,
                       const char *format, ...) __attribute__((format(gnu_printf, 5, 6)));
/* The same as what wait_until() tells; the context is the join. */
void join_tell_missing(void *context, const struct wait *wait, const struct error *missing);
void join_warn(struct join *join, const char *format, ...)
    __attribute__((format(gnu_printf, 2, 3)));
/* Bootstrap discovery, or on a joined node its own identity: join->client afterwards. */
int join_need_client(struct join *join, struct error *err);
/* The cluster's configuration, with the cluster-wide defaults applied to the options. */
int join_need_cluster(struct join *join, struct error *err);
/* config.yaml as it will be laid (join->kubelet_config), patches applied, with the list of changes;
 * warnings are told. Changes nothing on the host. */
int join_need_kubelet_config(struct join *join, struct error *err);
/* The network card, HNS version and the plan; with the node's podCIDR once the Node is known. */
int join_need_plan(struct join *join, struct error *err);
/* The node's own identity as join->client; the client certificate must be stored. */
int join_need_node_client(struct join *join, struct error *err);
/* The Node object with its podCIDR (not waited for). */
int join_need_node(struct join *join, struct error *err);
/* Where the cluster's CA is laid (caCertPath); the caller frees. */
char *join_ca_file(const struct join *join);
/* Of the kubelet's configuration, this run's or the one laid by an earlier one: where its static
 * pods are, and its health endpoint (NULL when that is switched off). The caller frees. */
char *join_manifest_folder(const struct join *join);
char *join_kubelet_health_url(const struct join *join);
/* Where the node is, e.g. "10.0.0.21". */
const char *join_node_ip(const struct join *join);

#endif
