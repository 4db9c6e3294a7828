/* A diagnosis of a whole cluster from anywhere: a probe pod (agnhost's netexec) on each chosen
 * node, asked through the API server's pod proxy. Nothing runs on the nodes but these pods, and all
 * that is made is in one namespace, whose deletion takes everything away. */
#pragma once

#include <stdint.h>

#include "base/json.h"
#include "diag/collection/pack.h"
#include "diag/flows/flows.h"
#include "diag/reports/report.h"
#include "kube/client.h"

#define CLUSTER_PROBE_IMAGE "registry.k8s.io/e2e-test-images/agnhost:2.55"

/* A node of the cluster. Text is owned; NULL = unknown. */
struct cluster_node {
    char *name;
    char *os;      /* "windows", "linux" */
    char *build;   /* of Windows: "10.0.20348"; "" of Linux */
    char *version; /* of the kubelet: "v1.37.1" */
    char
        *network; /* "flannel vxlan", "calico", ... as its annotations say; "" = they say nothing */
    char *ip;     /* InternalIP */
    bool ready;
    bool other_subnet; /* its pods' addresses are not of its podCIDR */
    char *twin;        /* "its pod subnet 10.244.4.0/24 is that of win-9, too"; NULL: nothing is */
    char *pod;         /* its probe's name */
    char *pod_ip, *pod_ip6;
    bool pod_ready;     /* the kubelet reaches it: a flow from node to pod */
    char *waiting;      /* why no probe runs here; NULL = one runs */
    char *unreached;    /* why the API server does not reach the probe; NULL = it does */
    bool by_exec;       /* it was asked by exec therefore */
    char *suffixes;     /* DNS suffixes inside the pod, between commas */
    char *servers;      /* DNS servers inside the pod */
    char *client_ip;    /* whom another node's pod sees when the pod speaks to it */
    char *service_ip;   /* whom a pod behind a Service sees */
    char *local_ip;     /* the same of externalTrafficPolicy Local, by another node's port */
    bool sticky, fixed; /* session affinity was asked; and the same pod answered each time */
    unsigned seen;      /* while it is measured: a bit a cluster_sight */
    json_t *own_report; /* what the node itself has published (diag/network_report.h), {unreadable:
                           "why"}; or NULL: nothing */
};
struct cluster_report;
struct cluster_nodes {
    struct cluster_node *items;
    size_t count;
};
void cluster_nodes_free(struct cluster_nodes *nodes);
/* The Nodes of a NodeList. ERROR_MALFORMED. */
int cluster_nodes_read(const json_t *list, struct cluster_nodes *ret, struct error *err);
/* Its own report as network_report_read() takes it, of a Node or of a report's node; NULL: it has
 * none. New reference. */
json_t *cluster_own_report_of(const json_t *node);
json_t *cluster_own_report_take(const json_t *json);
/* Worth a line of a node that works: its HNS has not what Kubernetes has, or its report cannot be
 * read. */
bool cluster_own_report_is_news(const struct cluster_node *node);
/* "its own report, 4 min old: ..."; NULL where it has none; the caller frees. */
char *cluster_own_report_line(const struct cluster_report *report, const struct cluster_node *node);
/* Leaves those of the names, or, without names, all Windows nodes and a Linux node of each kind, at
 * least two; all when none is a Windows node. ERROR_USAGE for a name that is not there, and where
 * nothing is left. */
int cluster_nodes_choose(struct cluster_nodes *nodes, const struct text_list *names,
                         struct error *err);
/* The name of the probe of the node at that place, which the caller frees; the node whose probe has
 * a name, in either case, NULL: none. */
char *cluster_probe_name(size_t place);
struct cluster_node *cluster_node_of_probe(const struct cluster_nodes *nodes, const char *name);
/* Operating system, Windows build, Kubernetes minor and network: nodes of one kind are alike. The
 * caller frees. */
char *cluster_node_kind(const struct cluster_node *node);

char *cluster_node_system(const struct cluster_node *node); /* the first of these alone */

/* The first node of which the text is the same, for each node; free(). */
size_t *cluster_alike_make(const struct cluster_nodes *nodes,
                           char *(*text)(const struct cluster_node *node));

/* Who is asked to reach whom: indexes of nodes. */
struct cluster_pair {
    size_t from, to;
};
struct cluster_pairs {
    struct cluster_pair *items;
    size_t count;
};
/* Of at most five nodes with a probe each reaches each. Of more, each is once a source and once a
 * target, and each pair of kinds, in both directions, is among them: as many as nodes, and at most
 * the square of the kinds more. free() the items. */
void cluster_pairs_make(const struct cluster_nodes *nodes, struct cluster_pairs *ret);
/* For each of the first 24 pairs with a cell that failed: from its first node to another one, from
 * another one to its second, and back; others of the same kind, if there are, of another system,
 * and those that the two work with in the other direction. Of at most eight nodes of such pairs
 * each that works with nobody is asked to reach each, and back. They show whether a node, a pair, a
 * system or what is between two groups is at fault. Of at most four nodes whose Services answer now
 * and then each is asked to reach each: perhaps it does not reach one of their pods. */
void cluster_pairs_widen(struct cluster_report *report);

/* Text is borrowed; NULL or 0 = default. */
struct cluster_options {
    const struct text_list *names;
    const char *selector; /* of labels, as the API takes it */
    const char *image;
    const char *external_ip, *external_name; /* "192.0.2.1:443", "example.com:443" */
    unsigned start_timeout_ms;               /* for all probes to start; 0 = 5 min */
    unsigned count;    /* how often each cell is asked for loss and latency; 0, 1 = not for these */
    struct http *last; /* for the deletion: Ctrl-C does not end it */
    struct collection *collection; /* gets the API's evidence, or NULL */
    void (*progress)(void *context, unsigned waited_ms, unsigned left_ms, const char *message);
    /* Or NULL: some cells have been answered; at most five times a second, and at the end. */
    void (*cells)(void *context, const struct cluster_report *report);
    void *progress_context;
};

struct cluster_report {
    char *server;
    char *namespace_;
    char *domain; /* the cluster's DNS domain */
    int64_t time;
    unsigned milliseconds; /* of the measurement alone */
    unsigned start_ms;     /* until all probes ran */
    unsigned requests;     /* to the API server, all in all */
    unsigned count;        /* how often each cell was to be asked for loss and latency; 0: not */
    struct cluster_nodes nodes;
    struct cluster_pairs pairs;
    struct diag_cells cells;
    struct diag_causes causes;
    bool left; /* the namespace could not be deleted */
};
/* "pod-to-pod-ip/tcp win-1 -> win-2", as causes name it; the caller frees. */
char *cluster_cell_name(const struct cluster_report *report, const struct diag_cell *cell);
/* Zero-initialise before use. */
void cluster_report_free(struct cluster_report *report);

/* Lists nodes, makes the namespace, its pods and Services, measures, and deletes the namespace in
 * any case; namespaces that killed runs left are deleted, too. 0 whenever there is a report.
 * ERROR_DENIED with each missing right in a hint: then nothing was made, and *ret_grant is the
 * manifest that grants them (new reference). Other kinds: kube_get's, ERROR_USAGE. */
int cluster_run(struct kube_client *client, const struct cluster_options *options,
                struct cluster_report *ret, json_t **ret_grant, struct error *err);

/* Every cell that must work, works, and every node has a probe. */
bool cluster_report_is_good(const struct cluster_report *report);
/* "54 of 56 cells, 4 nodes"; the caller frees. */
char *cluster_report_line(const struct cluster_report *report);
/* The reports; the caller frees. */
char *cluster_report_text(const struct cluster_report *report, const struct diag_text_style *style);
/* How far it is, for people: a line a flow with how many of its cells work, fail and wait. */
void cluster_report_progress(const struct cluster_report *report, struct text_list *ret);
char *cluster_report_junit(const struct cluster_report *report);
char *cluster_report_html(const struct cluster_report *report);
json_t *cluster_report_json(const struct cluster_report *report);
/* Prometheus' text format. */
char *cluster_report_metrics(const struct cluster_report *report);

/* The cells of one flow and protocol that --count asked. */
struct cluster_latency {
    const struct diag_flow *flow;
    bool udp;
    int family;
    struct probe_result sum; /* attempts and successes of all; min_us of the fastest, max_us of the
                                slowest; of the cells' medians the median, of their p95 the worst */
    const struct diag_cell *worst; /* that p95's; NULL: none succeeded, or was timed */
};
/* In the order of the matrix, TCP before UDP; the caller frees. */
struct cluster_latency *cluster_latencies_make(const struct cluster_report *report,
                                               size_t *ret_count);
/* Is this text a cluster's report, read well or not? */
bool cluster_report_is(const char *text, size_t len);
/* Reads a ClusterDiagReport back (diag --replay); causes are not read but judged again. At most
 * CLUSTER_NODES_MAX nodes. ERROR_MALFORMED, also of a node's report. */
enum { CLUSTER_NODES_MAX = 5000, CLUSTER_CELLS_MAX = 150000 };
int cluster_report_read(const char *text, size_t len, struct cluster_report *ret,
                        struct error *err);
/* As diag_report_compare(), and nodesNew[], nodesGone[]. What is asked of one of the two alone is a
 * change where it is red. New reference. */
json_t *cluster_report_compare(const struct cluster_report *old, const struct cluster_report *new);

/* What the API says of the pod network, without Secrets: Nodes, Services, EndpointSlices; of the
 * namespaces that networks live in, and of the run's (or NULL), pods, DaemonSets and events; the
 * network's ConfigMaps; versions. What may not be read is a line of the index. */
void cluster_evidence_add(struct kube_client *client, const char *namespace_,
                          struct collection *ret);
/* The whole .zip of diag --collect; `report`: NULL where nothing was measured, then `failure` says
 * why. The caller frees *ret. Fails as collection_finish(). */
int cluster_collect(struct collection *collection, const char *server,
                    const struct cluster_report *report, const char *failure, int64_t now,
                    char **ret, size_t *ret_len, struct error *err);
