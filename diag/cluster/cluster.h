/* Diagnoses a whole cluster from any machine: a probe pod (agnhost's netexec) runs on each chosen
 * node and is asked through the API server's pod proxy. Nothing else runs on the nodes, and
 * everything that is made is in one namespace, whose deletion removes all of it. */
#pragma once

#include <stdint.h>

#include "base/json.h"
#include "diag/causes/causes.h"
#include "diag/collection/collection.h"
#include "diag/flows/flows.h"
#include "diag/reports/report.h"
#include "kube/client.h"

#define CLUSTER_PROBE_IMAGE "registry.k8s.io/e2e-test-images/agnhost:2.55"

/* Adds the Nodes of a page of a NodeList ("items"), and sets `twin` of nodes that share what each
 * should have for itself. Fails with ERROR_MALFORMED. */
int cluster_nodes_add(struct cluster_nodes *nodes, const json_t *items, struct error *err);
/* Returns the node's own report as network_report_read() makes it, from a Node, or from a node of a
 * report in JSON. NULL when the node has not reported. New reference. */
json_t *cluster_own_report_of(const json_t *node);
json_t *cluster_own_report_take(const json_t *json);
/* Reads winjoin's Events about Nodes (core/v1, in the namespace default; the right to list them is
 * optional), and sets `says` of each node whose newest Event is a Warning. Failure kinds are those
 * of kube_get(). */
int cluster_events_read(struct kube_client *client, struct cluster_nodes *nodes, struct error *err);
/* Does the node's own report deserve a line even if the node works? It does when HNS does not have
 * what Kubernetes has, or when the report cannot be read. */
bool cluster_own_report_is_news(const struct cluster_node *node);
/* Returns a line about the node's own report: "its own report, 4 min old: ...". NULL when the
 * node has no report. The caller frees it. */
char *cluster_own_report_line(const struct diag_report *report, const struct cluster_node *node);
/* The choice of nodes that get a probe. Borrowed. */
struct cluster_choice {
    /* Only nodes with these names; NULL or empty means `all` decides. */
    const struct text_list *names;
    bool all;    /* All nodes; otherwise a sample when there are many. */
    int64_t now; /* The cluster's time, in seconds since 1970. */
};
enum { CLUSTER_ALL_MAX = 40 }; /* With more nodes than this, a sample is taken. */
bool cluster_choice_is_sample(const struct cluster_choice *choice,
                              const struct cluster_nodes *nodes);
/* Keeps the chosen nodes, in their order. A sample has each node that reports a problem (not Ready,
 * `says`, a twin; at most 200 of those whose state is unsure), two Ready nodes of each kind
 * (ALIKE_PLACE) without a problem, and more of each kind in turn until there are 120; at most 500
 * are drawn in this way. Of a kind, nodes without a recent proof of their network are drawn first,
 * then by a number made of the name, so that a repeated run draws the same nodes. Fails with
 * ERROR_USAGE for an unknown name, and when no node is left. */
int cluster_nodes_choose(struct cluster_nodes *nodes, const struct cluster_choice *choice,
                         struct cluster_sample *ret, struct error *err);
/* The probe of the first node is called "probe-1", that of the next one "probe-2". */
#define CLUSTER_PROBE_PREFIX "probe-"
/* Finds the node whose probe has that name, in upper or lower case; NULL when no node has. */
struct cluster_node *cluster_node_of_probe(const struct cluster_nodes *nodes, const char *name);
/* Says what nodes have in common. Nodes of one kind have the same operating system, Windows build,
 * Kubernetes minor version and network; a cloud may also divide them into pools and zones. */
enum cluster_alike {
    ALIKE_SYSTEM, /* The same operating system. */
    ALIKE_KIND = 1,
    ALIKE_POOL = 2, /* The same kind and the same pool. */
    ALIKE_ZONE = 4, /* The same kind and the same zone. */
    ALIKE_PLACE = ALIKE_POOL | ALIKE_ZONE,
};
/* Describes the group of the node: "windows", or "windows 10.0.20348 v1.37 flannel vxlan, pool p,
 * zone z". The caller frees it. */
char *cluster_node_text(const struct cluster_node *node, enum cluster_alike what);
/* Returns for each node the index of the first node in the same group; free() the array. */
size_t *cluster_alike_make(const struct cluster_nodes *nodes, enum cluster_alike what);

/* Makes the pairs of nodes to ask. Of at most five nodes with a probe, each node asks each other
 * one. Of more, each is once a source and once a target, and each pair of kinds (ALIKE_PLACE) is
 * covered in both directions, which adds at most the square of the number of kinds. With more than
 * 50 kinds, the pairs of kinds and pools, of kinds and zones, and of kinds alone (ALIKE_KIND) are
 * covered instead, each unless there are more than 50. The caller frees the items. */
void cluster_pairs_make(const struct cluster_nodes *nodes, struct cluster_pairs *ret);
/* Counts the pairs of kinds (ALIKE_PLACE) that could be asked, and those that are asked. */
void cluster_pairs_count(const struct cluster_nodes *nodes, const struct cluster_pairs *pairs,
                         size_t *ret_all, size_t *ret_asked);
/* Adds pairs that show whether a node, a pair, an operating system or the network between two
 * groups is at fault. For each of the first 24 pairs with a failed cell: its source asks another
 * target, another source asks its target, and the target asks the source. The other nodes are of
 * the same kind if possible, of another operating system, or nodes that work with one of the two in
 * the opposite direction. If at most eight nodes have failed pairs, those that reach no other node
 * ask each other. If Services answer at most four nodes only sometimes, each of these asks all
 * nodes, as it may not reach one of the Services' pods. */
void cluster_pairs_widen(struct diag_report *report);

/* All text is borrowed; NULL or 0 means the default. */
struct cluster_options {
    const struct text_list *names;
    bool all;             /* All nodes, not a sample of many. */
    const char *selector; /* A label selector, as the API accepts it. */
    const char *image;
    /* For example "192.0.2.1:443" and "example.com:443". */
    const char *external_ip, *external_name;
    unsigned start_timeout_ms; /* For the start of all probes; 0 means 5 minutes. */
    /* How often each cell is asked to measure loss and latency; 0 or 1 measures neither. */
    unsigned count;
    struct http *last;             /* A connection for the deletion, which Ctrl-C does not end. */
    struct collection *collection; /* Receives the evidence from the API; may be NULL. */
    void (*progress)(void *context, unsigned waited_ms, unsigned left_ms, const char *message);
    /* Called when some cells have been answered, at most five times a second and once at the end;
     * may be NULL. */
    void (*cells)(void *context, const struct diag_report *report);
    void *progress_context;
};

/* Lists the nodes, makes the namespace with its pods and Services, measures, and deletes the
 * namespace in any case. Also deletes namespaces that killed runs left. Returns 0 whenever there is
 * a report. Fails with ERROR_DENIED, with each missing right in a hint, before anything is made;
 * *ret_grant is then the manifest that grants these rights (a new reference). Also fails as
 * kube_get(), or with ERROR_USAGE. */
int cluster_run(struct kube_client *client, const struct cluster_options *options,
                struct diag_report *ret, json_t **ret_grant, struct error *err);

/* Shows the progress: one line for each flow, with how many of its cells work, failed or wait. */
void cluster_report_progress(const struct diag_report *report, struct text_list *ret);
/* Collects what the API says about the pod network, without Secrets: Nodes, Services and
 * EndpointSlices; pods, DaemonSets and events of the namespaces where network agents run, and of
 * the run's own namespace (or NULL); the network's ConfigMaps; versions. What may not be read
 * becomes a line of the index. */
void cluster_evidence_add(struct kube_client *client, const char *namespace_,
                          struct collection *ret);
/* Makes the complete .zip of diag --collect. `report` is NULL when nothing was measured; `failure`
 * then says why. The caller frees *ret. Fails as collection_finish() does. */
int cluster_collect(struct collection *collection, const char *server,
                    const struct diag_report *report, const char *failure, int64_t now, char **ret,
                    size_t *ret_len, struct error *err);

/* ---- twins: two Nodes that share what each should have for itself ---- */

/* The beginning of node->twin when pods of both nodes have the same addresses. */
#define CLUSTER_TWIN_SUBNET "its pod subnet"
#define CLUSTER_TWIN_POD "the address of its probe"
/* The beginning of node->twin when packets for one node's pods get to the other node. */
#define CLUSTER_TWIN_OVERLAY "flannel's "

/* Sets `twin` of nodes whose probes have the same address, once the probes run. */
void cluster_twins_of_pods(struct cluster_nodes *nodes);

/* ---- from the pattern of red cells to causes, by a table with the widest cause first ---- */

/* Fills report->causes. A row is named at the fewest places
 * (diag/cluster/causes/cluster_cause_rows.h) where all cells that its cause would break are red.
 * Each red cell is explained once, by the first row. Pure. */
void cluster_causes_find(struct diag_report *report);
/* Gets title i of the rows (borrowed); two may have the same id. Returns false behind the last. */
bool cluster_cause_row(size_t i, struct diag_cause_row *ret);
