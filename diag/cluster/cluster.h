/* A diagnosis of a whole cluster from anywhere: a probe pod (agnhost's netexec) on each chosen
 * node, asked through the API server's pod proxy. Nothing runs on the nodes but these pods, and all
 * that is made is in one namespace, whose deletion takes everything away. */
#pragma once

#include <stdint.h>

#include "base/json.h"
#include "diag/causes/causes.h"
#include "diag/collection/collection.h"
#include "diag/flows/flows.h"
#include "diag/reports/report.h"
#include "kube/client.h"

#define CLUSTER_PROBE_IMAGE "registry.k8s.io/e2e-test-images/agnhost:2.55"

/* Adds the Nodes of a page of a NodeList ("items"), and sets twin (below) of those that are twins.
 * ERROR_MALFORMED. */
int cluster_nodes_add(struct cluster_nodes *nodes, const json_t *items, struct error *err);
/* Its own report as network_report_read() takes it, of a Node or of a report's node; NULL: it has
 * none. New reference. */
json_t *cluster_own_report_of(const json_t *node);
json_t *cluster_own_report_take(const json_t *json);
/* Reads winjoin's Events of Nodes (core/v1, of the namespace default; the right to list them is
 * optional), and sets `says` of each node whose newest one is a Warning. Kinds: kube_get's. */
int cluster_events_read(struct kube_client *client, struct cluster_nodes *nodes, struct error *err);
/* Worth a line of a node that works: its HNS has not what Kubernetes has, or its report cannot be
 * read. */
bool cluster_own_report_is_news(const struct cluster_node *node);
/* "its own report, 4 min old: ..."; NULL where it has none; the caller frees. */
char *cluster_own_report_line(const struct diag_report *report, const struct cluster_node *node);
/* Which nodes get a probe. Borrowed. */
struct cluster_choice {
    const struct text_list *names; /* these alone; NULL or empty: see below */
    bool all;                      /* all of them; otherwise of many a sample */
    int64_t now;                   /* the cluster's time, Unix seconds */
};
enum { CLUSTER_ALL_MAX = 40 }; /* of more nodes it is a sample */
bool cluster_choice_is_sample(const struct cluster_choice *choice,
                              const struct cluster_nodes *nodes);
/* Leaves the chosen ones, in their order. A sample is each node that says of itself that something
 * is wrong (not Ready, `says`, a twin; of many that are unsure 200), two Ready ones of each kind
 * (ALIKE_PLACE) that say no such thing, and more of each kind in turn, until there are
 * 120; at most 500 are drawn so. Of a kind those are drawn first that have not proved their network
 * within the term of a proof, and otherwise as a number that is made of the name has it: again the
 * same ones. ERROR_USAGE for a name that is not there, and where nothing is left. */
int cluster_nodes_choose(struct cluster_nodes *nodes, const struct cluster_choice *choice,
                         struct cluster_sample *ret, struct error *err);
/* The probe of the first node is called "probe-1", that of the next one "probe-2". */
#define CLUSTER_PROBE_PREFIX "probe-"
/* The node whose probe has that name, in either case, NULL: none. */
struct cluster_node *cluster_node_of_probe(const struct cluster_nodes *nodes, const char *name);
/* What nodes have in common. Of one kind are those with the same operating system, Windows build,
 * Kubernetes minor and network; a cloud may put them into pools and zones besides. */
enum cluster_alike {
    ALIKE_SYSTEM, /* the operating system alone */
    ALIKE_KIND = 1,
    ALIKE_POOL = 2, /* of one kind, too */
    ALIKE_ZONE = 4, /* of one kind, too */
    ALIKE_PLACE = ALIKE_POOL | ALIKE_ZONE,
};
/* In words: "windows", "windows 10.0.20348 v1.37 flannel vxlan, pool p, zone z". The caller frees.
 */
char *cluster_node_text(const struct cluster_node *node, enum cluster_alike what);
/* The first node of which these words are the same, for each node; free(). */
size_t *cluster_alike_make(const struct cluster_nodes *nodes, enum cluster_alike what);

/* Of at most five nodes with a probe each reaches each. Of more, each is once a source and once a
 * target, and each pair of kinds (ALIKE_PLACE), in both directions, is among them: as many
 * as nodes, and at most the square of the kinds more. Where there are more than 50 kinds, it is the
 * pairs of kinds and pools, of kinds and zones, and of kinds alone (ALIKE_KIND), each
 * where these are not more than 50. free() the items. */
void cluster_pairs_make(const struct cluster_nodes *nodes, struct cluster_pairs *ret);
/* Pairs of kinds (ALIKE_PLACE) that could be asked, and those that are. */
void cluster_pairs_count(const struct cluster_nodes *nodes, const struct cluster_pairs *pairs,
                         size_t *ret_all, size_t *ret_asked);
/* For each of the first 24 pairs with a cell that failed: from its first node to another one, from
 * another one to its second, and back; others of the same kind, if there are, of another system,
 * and those that the two work with in the other direction. Of at most eight nodes of such pairs
 * each that works with nobody is asked to reach each, and back. They show whether a node, a pair, a
 * system or what is between two groups is at fault. Of at most four nodes whose Services answer now
 * and then each is asked to reach each: perhaps it does not reach one of their pods. */
void cluster_pairs_widen(struct diag_report *report);

/* Text is borrowed; NULL or 0 = default. */
struct cluster_options {
    const struct text_list *names;
    bool all;             /* nodes, not a sample of many */
    const char *selector; /* of labels, as the API takes it */
    const char *image;
    const char *external_ip, *external_name; /* "192.0.2.1:443", "example.com:443" */
    unsigned start_timeout_ms;               /* for all probes to start; 0 = 5 min */
    unsigned count;    /* how often each cell is asked for loss and latency; 0, 1 = not for these */
    struct http *last; /* for the deletion: Ctrl-C does not end it */
    struct collection *collection; /* gets the API's evidence, or NULL */
    void (*progress)(void *context, unsigned waited_ms, unsigned left_ms, const char *message);
    /* Or NULL: some cells have been answered; at most five times a second, and at the end. */
    void (*cells)(void *context, const struct diag_report *report);
    void *progress_context;
};

/* Lists nodes, makes the namespace, its pods and Services, measures, and deletes the namespace in
 * any case; namespaces that killed runs left are deleted, too. 0 whenever there is a report.
 * ERROR_DENIED with each missing right in a hint: then nothing was made, and *ret_grant is the
 * manifest that grants them (new reference). Other kinds: kube_get's, ERROR_USAGE. */
int cluster_run(struct kube_client *client, const struct cluster_options *options,
                struct diag_report *ret, json_t **ret_grant, struct error *err);

/* How far it is, for people: a line a flow with how many of its cells work, fail and wait. */
void cluster_report_progress(const struct diag_report *report, struct text_list *ret);
/* What the API says of the pod network, without Secrets: Nodes, Services, EndpointSlices; of the
 * namespaces that networks live in, and of the run's (or NULL), pods, DaemonSets and events; the
 * network's ConfigMaps; versions. What may not be read is a line of the index. */
void cluster_evidence_add(struct kube_client *client, const char *namespace_,
                          struct collection *ret);
/* The whole .zip of diag --collect; `report`: NULL where nothing was measured, then `failure` says
 * why. The caller frees *ret. Fails as collection_finish(). */
int cluster_collect(struct collection *collection, const char *server,
                    const struct diag_report *report, const char *failure, int64_t now, char **ret,
                    size_t *ret_len, struct error *err);

/* ---- what two Nodes have in common that each should have for itself ---- */

/* How node->twin begins where pods of both nodes have the same addresses. */
#define CLUSTER_TWIN_SUBNET "its pod subnet"
#define CLUSTER_TWIN_POD "the address of its probe"
/* Where what is sent to one node's pods comes to the other's. */
#define CLUSTER_TWIN_OVERLAY "flannel's "

/* The same of their probes' addresses, when these run. */
void cluster_twins_of_pods(struct cluster_nodes *nodes);

/* ---- from the pattern of its red cells to causes: a table of rows, the widest cause first ---- */

/* Fills report->causes. A row is named at the fewest places (diag/cluster/causes/rows.h) where
 * all cells that it would break are red; a red cell is explained once, by the first row. Pure. */
void cluster_causes_find(struct diag_report *report);
/* What the table names, i-th; an id may come again. False behind the last. Text is borrowed. */
bool cluster_cause_row(size_t i, struct diag_cause_row *ret);
