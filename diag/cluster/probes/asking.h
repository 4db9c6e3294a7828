/* Asks the probes of a run many questions at the same time. */
#pragma once

#include "base/json.h"
#include "diag/ask/ask.h"
#include "diag/cluster/cells.h"
#include "diag/cluster/cluster.h"
#include "kube/client.h"

/* Facts about a node's probe itself, independent of what it reaches. */
struct cluster_probe_answers {
    bool listens;  /* The probe's port accepted a connection. */
    bool answered; /* The probe answered at least once. */
    /* An answer came seconds too late, or not at all: a missing answer of this probe proves nothing
     * about the network. */
    bool late;
    bool stopped; /* The probe answered before, but not at the end. */
    /* The slowest answer of the round to questions about addresses, and the slowest by UDP. */
    unsigned slowest_ms;
    unsigned udp_ms;
};
/* Facts about a cell in addition to its result. */
struct cluster_asked_cell {
    /* Packets were lost by chance. For a cell by a Service: some attempts failed in a repeated
     * round. */
    bool mixed;
    /* By TCP between pods, an answer took as long as one with a packet that is sent again. */
    bool delayed;
};
/* A run with its questions. All members are borrowed, except the arrays `cells` and `probes`. */
struct cluster_asking {
    struct kube_client *client;
    const struct cluster_options *options;
    struct diag_report *report;
    struct cluster_addresses addresses;
    struct cluster_asked_cell *cells;     /* An array with one item for each cell. */
    struct cluster_probe_answers *probes; /* An array with one item for each node. */
    bool shown;                           /* The cells were shown, the last time at shown_ms. */
    uint64_t shown_ms;
};
/* Adds pairs where some fail (cluster_pairs_widen()), with cells that are not asked yet. */
void cluster_asking_widen(struct cluster_asking *asking);

/* The questions that are asked at the same time. */
struct cluster_round {
    /* Selects the cells to ask: among the red ones, or with `evenly` among all. */
    struct cluster_selector asks;
    /* The observations that are made on each node where they are still missing. */
    bool observations[OBSERVATIONS];
    /* The time for each answer; later ones are left to another round. 0 gives the full time. */
    unsigned soon_ms;
    unsigned look_ms; /* The time for an observation, when different; 0 means the same. */
    bool again;       /* An earlier round has shown that the red cells fail. */
    /* Red cells that pass some packets, and red cells of Services, are asked several times: that
     * tells loss by chance from a loss of large packets only. */
    bool closely;
    bool evenly; /* All chosen cells are asked equally often, red or not. */
    /* Cells that lose some packets are asked, too, even if `asks` does not choose them. */
    bool lossy;
};
struct cluster_asked {
    size_t red;    /* Cells that were asked and are still red. */
    size_t unseen; /* Observations that were asked and are still missing. */
    /* The slowest answer to an observation, without the time of its connection. */
    unsigned wait_ms;
};
/* Asks the questions of a round, judges each answer when it comes, and shows the cells
 * (options->cells). */
struct cluster_asked cluster_ask(struct cluster_asking *asking, const struct cluster_round *round);
/* Says whether a cell between pods fails, among the cells from index `from` on: pods behind
 * Services may be cut off then. */
bool cluster_has_cut_pods(const struct diag_report *report, size_t from);
/* Fails with ERROR_INTERRUPTED when the user ended the run. */
int cluster_check_interrupted(struct host *host, struct error *err);

/* ---- loss and latency of a cluster's cells (--count) ---- */

/* Asks each cell that works, or that loses packets by chance, options->count times more. With a
 * count of 1 or less, it asks only cells by TCP between pods, to see whether packets are sent again
 * (cell->again). Few questions are under way at the same time. The time that is spent outside the
 * network (in this program, the API server and the probe) is measured by as many equal questions to
 * the probe itself, in between; their median is subtracted. A cell that loses an answer fails.
 * Questions that the API server does not pass on do not count.
 *
 * For nodes that are `by_exec`, only the loss is measured, since a shell and curl take longer than
 * the network. There the probe itself asks several times for each question, so a name is resolved
 * once for five attempts; if it does not resolve, all five are lost. It ends after at most five
 * minutes, and cells may then have fewer attempts. The only failure is ERROR_INTERRUPTED. */
int cluster_count(struct cluster_asking *asking, struct error *err);
/* Says whether --count asks the cell: it works or loses some packets, and is not counted yet. */
bool cluster_cell_is_to_count(const struct diag_cell *cell);

/* ---- probes and nodes that stop while they are asked ---- */

/* The beginning of `waiting` for a node that went away while it was asked. */
#define CLUSTER_GONE "it went away while it was asked: "

/* Sets node->waiting, and takes over `why`. Does nothing when the node has a reason to wait. */
void cluster_node_gone(struct cluster_node *node, char *why);
/* Asks probes that answered before for their own answer again where cells failed: all of them with
 * `all`, otherwise only those of failed cells. If only a few of them are silent, these become
 * `stopped` (asking->probes) and `unreached`, and cells of other nodes to them are asked again. */
void cluster_ask_stopped(struct cluster_asking *asking, bool all);
/* After cluster_ask_stopped(): looks for Nodes that became not Ready or were deleted, and how long
 * ago the kubelets of stopped nodes renewed their Leases. Missing rights are no failure: a stopped
 * node that no other node reaches counts as gone without them. */
void cluster_look_for_gone(struct cluster_asking *asking, const char *nodes_path);

/* ---- ask probes by exec, where the API server does not reach them by their address ---- */

enum cluster_exec {
    /* All open cells of each node that is `unreached` and was not asked by exec yet. */
    EXEC_NODES,
    EXEC_OPEN, /* For nodes asked by exec: cells that failed, and new ones. */
    EXEC_NEW,  /* For nodes asked by exec: cells that were not asked yet. */
};
/* Asks the chosen cells by exec, for at most 45 s. A node where exec works becomes `by_exec`; for
 * other nodes `unreached` says why exec fails. Returns how many cells of `by_exec` nodes are still
 * open. */
size_t cluster_ask_by_exec(struct kube_client *client, struct diag_report *report,
                           enum cluster_exec what);
/* Makes an array with one item for each node, to be filled with questions. An unreached node that
 * is asked by exec (or with `known` false, one that is not asked so yet) gets its pod and a copy of
 * `queue`; other items are empty. The caller frees the array with ask_pods_free(). */
struct ask_pod *cluster_pods_by_exec(const struct diag_report *report, bool known,
                                     const struct ask_queue *queue);
enum {
    CLUSTER_BY_EXEC_MS = 9000
    /* Longer than netexec takes for a name that the DNS does not answer. */
};

/* ---- the namespace of a run: make it, fill it, wait for its pods, delete it ---- */

/* Checks the rights that a run needs, and changes nothing. Fails with ERROR_DENIED and names each
 * missing right; *ret_grant is then the manifest that grants the rights of a run, a new reference.
 */
int cluster_rights_check(struct kube_client *client, json_t **ret_grant, struct error *err);
/* Deletes the namespaces that killed runs left: those of this manager that are older than the life
 * of their pods. Failures are only logged. */
void cluster_sweep(struct kube_client *client);
/* Makes the namespace, a pod for each node without a reason to wait (`waiting`), and the Services.
 * Failure kinds are those of kube_create(). */
int cluster_pods_start(struct kube_client *client, const struct cluster_options *options,
                       struct diag_report *report, struct cluster_addresses *ret,
                       struct error *err);
/* Makes the ExternalName Service again, when the cluster's domain is not the one that was guessed.
 * Fails as kube_create(). */
int cluster_alias_start(struct kube_client *client, const struct diag_report *report,
                        struct error *err);
/* Waits until each pod runs or can never run; `waiting` of its node then says why. Fails with
 * ERROR_INTERRUPTED, ERROR_DENIED, ERROR_UNTRUSTED or ERROR_MALFORMED. */
int cluster_pods_await(struct kube_client *client, const struct cluster_options *options,
                       struct diag_report *report, struct error *err);
/* Waits until all pods are ready, or until their kubelets had enough time since `begin`
 * (host_monotonic_ms()), when the pods began to run. The only failure is ERROR_INTERRUPTED. */
int cluster_pods_await_ready(struct kube_client *client, struct diag_report *report, uint64_t begin,
                             struct error *err);
/* Deletes the namespace with everything in it; tries for half a minute. Failure kinds are those of
 * kube_delete(). */
int cluster_remove(struct kube_client *client, const char *namespace_, struct error *err);

/* ---- the objects that a diagnosis makes in the cluster ---- */

#define CLUSTER_MANAGER "app.kubernetes.io/managed-by"
#define CLUSTER_MANAGER_NAME "winjoin-diag"

/* Ports of agnhost netexec in the three containers of a pod. The probe container asks others
 * (/dial) for anyone who reaches its port, so no Service leads to it, and it has no shell that
 * /shell could use. Services lead to the neighbor, which answers its name to every HTTP request.
 * The third container answers with the pod's DNS settings. The same numbers are in
 * templates/cluster-diagnosis.yaml. */
enum { PROBE_HTTP = 8080, PROBE_UDP_ECHO = 8081, NEIGHBOR_HTTP = 8082, NEIGHBOR_UDP = 8083 };
enum { SETTINGS_HTTP = 8084 };
enum { SERVICE_HTTP = 80, SERVICE_UDP = 90, POD_LIFE_SECONDS = 900 };

/* Makes the probe's Pod for a node. The Pod names its node, so the scheduler is not used, and a
 * cordoned node is tested, too. New reference. */
json_t *cluster_pod_make(const struct cluster_node *node, const char *image);
/* Makes an array of the Services: "probes" (headless), "backend", "sticky" (session affinity),
 * "local" (externalTrafficPolicy), "self" (internalTrafficPolicy, which leads a pod to itself),
 * "alias" (ExternalName of the Service kubernetes). New reference. */
json_t *cluster_services_make(const char *domain);

/* The rights that a run needs, in the order in which messages list them. */
enum { CLUSTER_RIGHTS = 9 };
extern const struct kube_right cluster_rights[CLUSTER_RIGHTS];
