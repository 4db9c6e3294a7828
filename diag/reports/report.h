/* What a diagnosis saw, of one node or of a whole cluster, and its forms: text, JSON, JUnit XML,
 * HTML, Prometheus. */
#pragma once

#include <stdint.h>

#include "base/json.h"
#include "diag/flows/flows.h"

/* The kinds of its document. */
#define NODE_REPORT_KIND "DiagReport"
#define CLUSTER_REPORT_KIND "ClusterDiagReport"

/* The id of what is left: cells that no row explains. */
#define DIAG_CAUSE_UNKNOWN "UNKNOWN"

/* Why cells fail. */
struct diag_cause {
    const char *id; /* of the table in diag/causes/causes.h */
    bool confirmed; /* evidence was read; otherwise only the pattern of cells speaks for it */
    char *message;  /* plain words */
    char *hint;     /* what to do */
    struct text_list evidence; /* the facts that speak for it */
    struct text_list cells;    /* "pod-to-external-ip/tcp" */
};
/* Where a cause is explained: "causes.md#svc-vip", of docs/reference; the caller frees. */
char *diag_cause_page(const char *id);
struct diag_causes {
    struct diag_cause *items;
    size_t count;
};
void diag_causes_free(struct diag_causes *causes);
/* The cause that explains the cell of that name; NULL: none does. */
const struct diag_cause *diag_cause_of(const struct diag_causes *causes, const char *cell);

/* A node of the cluster. Text is owned; NULL = unknown. */
struct cluster_node {
    char *name;
    char *os;      /* "windows", "linux" */
    char *build;   /* of Windows: "10.0.20348"; "" of Linux */
    char *version; /* of the kubelet: "v1.37.1" */
    char
        *network; /* "flannel vxlan", "calico", ... as its annotations say; "" = they say nothing */
    char *pool, *zone; /* as its labels say; "" = they say nothing */
    char *ip;          /* InternalIP */
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
    char *client_ip;    /* the source address that another node's pod sees */
    char *service_ip;   /* the source address that a pod behind a Service sees */
    char *local_ip;     /* the same of externalTrafficPolicy Local, by another node's port */
    bool sticky, fixed; /* session affinity was asked; and the same pod answered each time */
    unsigned seen;      /* while it is measured: a bit a cluster_observation */
    json_t *own_report; /* what the node itself has published (diag/network_report.h), {unreadable:
                           "why"}; or NULL: nothing */
    char *says;         /* what is wrong with it by its own words ("PodNetworkProved is False: ...",
                           diag/cluster/nodes.c); NULL: nothing */
    bool unsure;        /* that is a condition that is Unknown */
    int64_t proved;     /* when it last said that PodNetworkProved is True, Unix seconds; or 0 */
};
struct diag_report;
struct cluster_nodes {
    struct cluster_node *items;
    size_t count;
    json_t *seen; /* while they are read: of what each should have for itself the first that has it;
                     or NULL */
};
void cluster_nodes_free(struct cluster_nodes *nodes);

/* Which nodes of many were asked, and which were not (diag/cluster/sample.c). */
struct cluster_sample {
    size_t of;  /* nodes that there were; 0: there is no sample, all that were meant were asked */
    size_t say; /* of them: say of themselves that something is wrong */
    size_t unsure; /* of those: their condition is Unknown, and they are not in the sample */
    struct cluster_sample_kind {
        char *name;          /* cluster_node_place() */
        size_t nodes, asked; /* how many there were; Ready ones of the sample */
    } * kinds;
    size_t count;
    size_t pairs, pairs_asked; /* of kinds that can be asked, in both directions */
    char *unread;              /* why Events of nodes were not read; NULL: they were */
};

/* Which node tests its way to which other node: indexes of nodes. */
struct cluster_pair {
    size_t from, to;
};
struct cluster_pairs {
    struct cluster_pair *items;
    size_t count;
};

/* What was seen: of the node that winjoin ran on, or, where `server` is set, of a whole cluster.
 * Zero-initialise before use. */
struct diag_report {
    int64_t time; /* when it was measured, Unix seconds */
    unsigned milliseconds;
    struct diag_cells cells;
    struct diag_causes causes;

    /* Of one node: */
    char *node;
    char *network;        /* "overlay flannel.4096", or "unknown" */
    unsigned measured_ms; /* of `milliseconds` from both probes up to the causes; 0 = nothing was
                             measured */
    unsigned probes;      /* attempts made, all in all */
    json_t *evidence;     /* document of diag/evidence.h, or NULL */

    /* Of a whole cluster; `milliseconds` are those of the measurement alone: */
    char *server; /* NULL: this is a node's */
    char *namespace_;
    char *domain;      /* the cluster's DNS domain */
    unsigned start_ms; /* until all probes ran */
    unsigned requests; /* to the API server, all in all */
    unsigned count;    /* how often each cell was to be asked for loss and latency; 0: not */
    struct cluster_nodes nodes;
    struct cluster_sample sample;
    struct cluster_pairs pairs;
    bool left; /* the namespace could not be deleted */
};
void diag_report_free(struct diag_report *report);
/* How reports and causes name a cell: "pod-to-pod-ip/tcp", of a cluster "pod-to-pod-ip/tcp win-1 ->
 * win-2"; the caller frees. */
char *diag_report_cell_name(const struct diag_report *report, const struct diag_cell *cell);

struct diag_summary {
    unsigned pass, fail, skip, not_run; /* cells of the nine flows; slow counts as pass */
    unsigned flows, flows_pass;         /* flows asked (no skip), and those without a red cell */
};
/* Does the cell count against success? A cell of an extra flow does not where it fails, and in the
 * report of one node never. */
bool diag_report_counts(const struct diag_report *report, const struct diag_cell *cell);
void diag_summary_make(const struct diag_report *report, struct diag_summary *ret);
/* true when every cell that counts passed (or is slow, or skipped by design), and of a cluster each
 * node has a probe: exit code 0; false: 5. A cell that was not run is not a pass. */
bool diag_report_is_good(const struct diag_report *report);
/* As a person reads it: "0.4 ms", "33 ms"; the caller frees. */
char *diag_latency_text(unsigned microseconds);

/* One line: "9 of 9 flows work, TCP and UDP, 54 probes", "54 of 56 cells work, 4 nodes in 6 pairs";
 * the caller frees. */
char *diag_report_line(const struct diag_report *report);

struct diag_text_style {
    bool utf8;        /* arrows and marks; otherwise ->, ok, !!, -- */
    bool color;       /* ANSI */
    unsigned columns; /* of the terminal; 0, and more than 80: 80. Below 68 a line a protocol */
};
/* The matrix and the causes; the caller frees. */
char *diag_report_text(const struct diag_report *report, const struct diag_text_style *style);
/* DiagReport or ClusterDiagReport (contracts). New reference. */
json_t *diag_report_json(const struct diag_report *report);
/* The flows[] of DiagReport alone, for JoinResult. New reference. */
json_t *diag_flows_json(const struct diag_report *report);
/* One testsuite, one testcase a cell; the caller frees. */
char *diag_report_junit(const struct diag_report *report);
/* One page, nothing loaded from elsewhere; the caller frees. */
char *diag_report_html(const struct diag_report *report);
/* Prometheus' text format: gauges of the flows (up, latency, loss), causes, the whole; the caller
 * frees. */
char *diag_report_metrics(const struct diag_report *report);
/* Reads such a document back (diag --replay), of that kind or of any (NULL); causes are not read
 * but judged again. ERROR_MALFORMED, also of more than CLUSTER_NODES_MAX nodes. */
enum { CLUSTER_NODES_MAX = 5000, CLUSTER_CELLS_MAX = 150000 };
int diag_report_read(const char *text, size_t len, const char *kind, struct diag_report *ret,
                     struct error *err);
/* A table that fills in while cells are measured: a row of each flow and family, its TCP and UDP as
 * "waiting", "running", "again", "works", "fails", "skipped", "not run". `begun`: the pods run.
 * Pure. */
void diag_cells_progress(const struct diag_cells *cells, bool begun, struct text_list *ret);

/* ---- what changed between two reports (diag --compare). Pure. ---- */

/* {since, worse, cells[{cell, was, is, worse, reason?}], causesNew[], causesGone[]}: cells that
 * turned red or green, are skipped now or no longer, came or went (then "absent"). worse: a cell of
 * the nine flows is red that was not, or a cause is new. Of a cluster also nodesNew[], nodesGone[];
 * a cell of one of the two alone is named where it is red. Causes of both are judged already. New
 * reference. */
json_t *diag_report_compare(const struct diag_report *old, const struct diag_report *new);
/* The same for a person; the caller frees. */
char *diag_compare_text(const json_t *compared);
/* Is there anything that changed? */
bool diag_compare_changed(const json_t *compared);
/* How it is (`line`, at `time`) and what changed, each line with its time (diag --watch); the
 * causes are those of now. The caller frees. */
char *diag_watch_text(const json_t *compared, int64_t time, const char *line,
                      const struct diag_causes *causes);
/* {time, good, summary, causes[]} of a report's document (good: the exit code would be 0) and what
 * `compared` has. New reference. */
json_t *diag_watch_json(const json_t *compared, const json_t *report, bool good);
