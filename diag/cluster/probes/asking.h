/* The questions of a run to its probes, many at the same time. */
#pragma once

#include "base/json.h"
#include "diag/ask/ask.h"
#include "diag/cluster/cells.h"
#include "diag/cluster/cluster.h"
#include "kube/client.h"

/* What is known of a node's probe itself, whatever it reaches. */
struct cluster_probe_answers {
    bool listens;  /* it was not refused */
    bool answered; /* once at least */
    bool late;    /* an answer came seconds too late, or not at all: what does not come in time from
                     there proves nothing of the network */
    bool stopped; /* it has answered, and at the end it did not */
    unsigned slowest_ms; /* the slowest answer in a round about an address, */
    unsigned udp_ms;     /* and of these the slowest by UDP */
};
/* What is known of a cell beside its result. */
struct cluster_asked_cell {
    bool mixed; /* packets were lost by chance; by a Service: some attempts failed, in a round that
                   counts */
    bool delayed; /* by TCP between pods an answer took as long as a packet that is sent again */
};
/* A run and its questions. Borrowed, but for the lists. */
struct cluster_asking {
    struct kube_client *client;
    const struct cluster_options *options;
    struct diag_report *report;
    struct cluster_addresses addresses;
    struct cluster_asked_cell *cells;     /* of each cell */
    struct cluster_probe_answers *probes; /* of each node */
    bool shown;                           /* the cells; and when */
    uint64_t shown_ms;
};
/* More pairs, where some fail (cluster_pairs_widen()); their cells are not asked yet. */
void cluster_asking_widen(struct cluster_asking *asking);

/* What is asked at the same time. */
struct cluster_round {
    struct cluster_selector asks;    /* of the red cells; with `evenly` of all */
    bool observations[OBSERVATIONS]; /* those of each node that are not seen yet */
    unsigned soon_ms; /* what takes longer is asked again in another round; 0 = each has its time */
    unsigned look_ms; /* of an observation, where it is another time; 0 = the same */
    bool again;       /* a cell that is red did fail */
    bool closely;     /* a red cell that passes some packets is asked several times: that tells loss
                         by chance from large packets alone being lost. So is one of a Service */
    bool evenly;      /* each, red or not, as often as the others */
    bool lossy;       /* beside those that `asks` names, each that loses some packets */
};
struct cluster_asked {
    size_t red;       /* cells that were asked, and still are */
    size_t unseen;    /* observations that were asked, and are not seen */
    unsigned wait_ms; /* of the observation that was answered last, without its connection */
};
/* Judges each answer when it comes, and shows it (options->cells). */
struct cluster_asked cluster_ask(struct cluster_asking *asking, const struct cluster_round *round);
/* Whether something fails between pods, of the cells from that one on: what a Service leads to may
 * be cut off. */
bool cluster_has_cut_pods(const struct diag_report *report, size_t from);
/* ERROR_INTERRUPTED where somebody ends the run. */
int cluster_check_interrupted(struct host *host, struct error *err);

/* ---- loss and latency of a cluster's cells (--count) ---- */

/* Asks each cell that works, or loses packets by chance, options->count times more; where that is 1
 * or less, TCP between pods alone, to see whether packets are sent again (cell->again). Few
 * questions are under way at the same time. What takes time besides the network (here, the API
 * server, the probe) is what an equal question to the probe itself takes, asked in between as
 * often: the median of these is subtracted. A cell that loses an answer fails. Questions that the
 * API server does not pass on do not count.
 * Of each node that is `by_exec` it is the loss alone, as a shell and curl take longer than the
 * network. The probe itself asks several times for each question there, so a name is resolved once
 * for five attempts, which are all lost where it does not resolve. Five minutes at most: cells have
 * fewer attempts then. ERROR_INTERRUPTED alone. */
int cluster_count(struct cluster_asking *asking, struct error *err);
/* Does --count ask it: it works or loses some packets, and was not counted yet? */
bool cluster_cell_is_to_count(const struct diag_cell *cell);

/* ---- meanwhile ---- */

/* What such a node is `waiting` for begins so. */
#define CLUSTER_GONE "it went away while it was asked: "

/* `why`: taken over; nothing where it waits for something already. */
void cluster_node_gone(struct cluster_node *node, char *why);
/* Where cells failed: asks probes that answered once for their own answer again; of `all`, or of
 * those of such cells alone. Where few of them say nothing, each of these is `stopped`
 * (asking->probes) and `unreached`, and what others reach there is asked again. */
void cluster_ask_stopped(struct cluster_asking *asking, bool all);
/* Then: Nodes that became not Ready, or were deleted; of stopped ones how long ago the kubelet
 * renewed its Lease. What may not be read is no failure: a stopped node that no other reaches is
 * gone without it. */
void cluster_look_for_gone(struct cluster_asking *asking, const char *nodes_path);

/* ---- asks probes by exec where the API server does not reach them by their address ---- */

enum cluster_exec {
    EXEC_NODES, /* all of each node that is `unreached`, and was not asked so before */
    EXEC_OPEN,  /* of nodes that were: cells that failed, and new ones */
    EXEC_NEW,   /* cells that were not asked */
};
/* For 45 s at most. Where it is possible the node is `by_exec` then; where not, `unreached` says
 * why. Returns how many cells of such nodes are still open. */
size_t cluster_ask_by_exec(struct kube_client *client, struct diag_report *report,
                           enum cluster_exec what);
/* What to fill with questions: of each node that is unreached, and whether it is known to be asked
 * by exec, the pod and such a queue; of another nothing. ask_pods_free(). */
struct ask_pod *cluster_pods_by_exec(const struct diag_report *report, bool known,
                                     const struct ask_queue *queue);
enum {
    CLUSTER_BY_EXEC_MS = 9000
}; /* a name that the DNS does not answer takes longer than netexec */

/* The namespace of a run: made, filled, waited for, deleted. */

/* ERROR_DENIED with a hint for each missing right; *ret_grant is then what grants them. Nothing is
 * changed. */
int cluster_rights_check(struct kube_client *client, json_t **ret_grant, struct error *err);
/* Deletes what runs that were killed left: namespaces of this manager that are older than the life
 * of their pods. Failures are logged. */
void cluster_sweep(struct kube_client *client);
/* The namespace, a pod for each node that has none `waiting`, and the Services. Kinds of failure:
 * kube_create's. */
int cluster_pods_start(struct kube_client *client, const struct cluster_options *options,
                       struct diag_report *report, struct cluster_addresses *ret,
                       struct error *err);
/* The ExternalName again, where the cluster's domain is another than was guessed. */
int cluster_alias_start(struct kube_client *client, const struct diag_report *report,
                        struct error *err);
/* Waits until each pod runs or never will: those nodes then have `waiting`. ERROR_INTERRUPTED,
 * ERROR_DENIED, ERROR_UNTRUSTED, ERROR_MALFORMED. */
int cluster_pods_await(struct kube_client *client, const struct cluster_options *options,
                       struct diag_report *report, struct error *err);
/* Whether the pods are ready: until all are, or their kubelets have had their time since `begin`
 * (host_monotonic_ms), when they began to run. ERROR_INTERRUPTED alone. */
int cluster_pods_await_ready(struct kube_client *client, struct diag_report *report, uint64_t begin,
                             struct error *err);
/* Deletes the namespace, and so all in it; tries for half a minute. Kinds: kube_delete's. */
int cluster_remove(struct kube_client *client, const char *namespace_, struct error *err);

/* ---- what a diagnosis makes in the cluster ---- */

#define CLUSTER_MANAGER "app.kubernetes.io/managed-by"
#define CLUSTER_MANAGER_NAME "winjoin-diag"

/* agnhost netexec in three containers of a pod. The probe asks others (/dial) for whoever reaches
 * its port: no Service leads there, and there is no shell in it for /shell. Services lead to the
 * neighbor, which answers its name to every request by HTTP; the third answers the pod's DNS
 * settings. These numbers stand in templates/cluster-diagnosis.yaml, too. */
enum { PROBE_HTTP = 8080, PROBE_UDP_ECHO = 8081, NEIGHBOR_HTTP = 8082, NEIGHBOR_UDP = 8083 };
enum { SETTINGS_HTTP = 8084 };
enum { SERVICE_HTTP = 80, SERVICE_UDP = 90, POD_LIFE_SECONDS = 900 };

/* The probe of a node, put there past the scheduler, so that a cordoned node is tested, too. */
json_t *cluster_pod_make(const struct cluster_node *node, const char *image);
/* The Services, an array: "probes" (headless), "backend", "sticky" (session affinity), "local"
 * (externalTrafficPolicy), "self" (internalTrafficPolicy, which leads a pod to itself), "alias"
 * (ExternalName of the Service kubernetes). */
json_t *cluster_services_make(const char *domain);

/* The rights that a run needs, in the order in which they are told. */
enum { CLUSTER_RIGHTS = 9 };
extern const struct kube_right cluster_rights[CLUSTER_RIGHTS];
