/* The report of a diagnosis, of one node or of a whole cluster, and its output forms: text, JSON,
 * JUnit XML, HTML, Prometheus. The caller frees each char * that a function returns or stores
 * through a pointer. */
#pragma once

#include <stdint.h>

#include "base/json.h"
#include "diag/flows/flows.h"

/* The kinds of its JSON document. */
#define NODE_REPORT_KIND "DiagReport"
#define CLUSTER_REPORT_KIND "ClusterDiagReport"

/* The id of the cause for cells that no other row of the table explains. */
#define DIAG_CAUSE_UNKNOWN "UNKNOWN"

/* A cause: why cells fail. */
struct diag_cause {
    const char *id; /* An id of the table in diag/causes/causes.h. */
    /* Evidence proves the cause; otherwise only the pattern of the cells points to it. */
    bool confirmed;
    char *message;             /* The cause in plain words. */
    char *hint;                /* What to do about it. */
    struct text_list evidence; /* The facts that point to the cause. */
    struct text_list cells;    /* Names of cells, such as "pod-to-external-ip/tcp". */
};
/* Returns the place in docs/reference that explains a cause: "causes.md#svc-vip". */
char *diag_cause_page(const char *id);
struct diag_causes {
    struct diag_cause *items;
    size_t count;
};
void diag_causes_free(struct diag_causes *causes);
/* Returns the cause that explains the cell of that name; NULL when no cause does. */
const struct diag_cause *diag_cause_of(const struct diag_causes *causes, const char *cell);

/* A node of the cluster. Text is owned; NULL means unknown. */
struct cluster_node {
    char *name;
    char *os;      /* "windows" or "linux". */
    char *build;   /* On Windows, such as "10.0.20348"; "" on Linux. */
    char *version; /* The kubelet's version, such as "v1.37.1". */
    /* The pod network from the node's annotations, such as "flannel vxlan" or "calico"; "" when
     * they do not show it. */
    char *network;
    char *pool, *zone; /* From the node's labels; "" when these do not have it. */
    char *ip;          /* The node's InternalIP. */
    bool ready;
    /* The network does not take the addresses of its pods from podCIDR. */
    bool other_subnet;
    /* What the node shares with another node by mistake: "its pod subnet 10.244.4.0/24 is that of
     * win-9, too"; NULL when there is nothing. */
    char *twin;
    char *pod; /* The name of its probe. */
    char *pod_ip, *pod_ip6;
    bool pod_ready; /* The kubelet reaches its node's pod: the flow from node to pod. */
    /* Why no probe runs on the node; NULL when one runs. */
    char *waiting;
    /* Why the API server does not reach the probe; NULL when it does. */
    char *unreached;
    /* The probe was asked by exec, because the API server does not reach it. */
    bool by_exec;
    char *suffixes;   /* DNS suffixes inside the pod, separated by commas. */
    char *servers;    /* DNS servers inside the pod, separated by commas. */
    char *client_ip;  /* The source address that another node's pod sees. */
    char *service_ip; /* The source address that a pod behind a Service sees. */
    /* The source address that a pod sees behind another node's NodePort of a Service with
     * externalTrafficPolicy Local. */
    char *local_ip;
    /* Session affinity was asked for; the same pod answered each time. */
    bool sticky, fixed;
    /* While the cluster is measured: one bit for each cluster_observation that was made. */
    unsigned observed;
    /* The report that the node has published (diag/network_report.h), or {unreadable: "why"}; NULL
     * when the node has published no report. */
    json_t *own_report;
    /* What the node reports to be wrong with itself ("PodNetworkProved is False: ...",
     * diag/cluster/nodes.c); NULL when it reports nothing wrong. */
    char *says;
    /* `says` is only that PodNetworkProved is Unknown. */
    bool unsure;
    /* When the node last reported that PodNetworkProved is True, in seconds since 1970; otherwise
     * 0. */
    int64_t proved;
};
struct diag_report;
struct cluster_nodes {
    struct cluster_node *items;
    size_t count;
    /* Used while nodes are read: the first node that has each value which no two nodes should
     * share; may be NULL. */
    json_t *seen;
};
void cluster_nodes_free(struct cluster_nodes *nodes);

/* Says which of many nodes were asked, and which were not (diag/cluster/sample.c). */
struct cluster_sample {
    /* The number of nodes that could be chosen; 0 when no sample was taken and all chosen nodes
     * were asked. */
    size_t of;
    size_t say; /* How many of them report that something is wrong with themselves. */
    /* How many of the latter are left out of the sample, because only their condition is
     * Unknown. */
    size_t unsure;
    struct cluster_sample_kind {
        char *name; /* The text of cluster_node_text() for ALIKE_PLACE. */
        /* The number of its nodes, and of Ready ones in the sample. */
        size_t nodes, asked;
    } * kinds;
    size_t count;
    /* Pairs of kinds, in both directions, that could be asked, and those that were. */
    size_t pairs, pairs_asked;
    /* Why Events about nodes could not be read; NULL when they were read or not needed. */
    char *unread;
};

/* A pair of nodes, as indexes: the first asks the second. */
struct cluster_pair {
    size_t from, to;
};
struct cluster_pairs {
    struct cluster_pair *items;
    size_t count;
};

/* A report: of the node that winjoin ran on, or if `server` is set, of a whole cluster. The caller
 * zero-initializes it. */
struct diag_report {
    int64_t time; /* When it was measured, in seconds since 1970. */
    unsigned milliseconds;
    struct diag_cells cells;
    struct diag_causes causes;

    /* The following members are for the report of a node. */
    char *node;
    char *network; /* For example "overlay flannel.4096", or "unknown". */
    /* The part of `milliseconds` from when both probes ran until the causes were found; 0 when
     * nothing was measured. */
    unsigned measured_ms;
    unsigned probes;  /* The number of all attempts. */
    json_t *evidence; /* The document of diag/evidence.h, or NULL. */

    /* The following members are for the report of a cluster, in which `milliseconds` is the time of
     * the measurement only. */
    char *server; /* The API server's address; NULL in the report of a node. */
    char *namespace_;
    char *domain;      /* The cluster's DNS domain. */
    unsigned start_ms; /* The time until all probes ran. */
    unsigned requests; /* The number of all requests to the API server. */
    /* How often each cell was to be asked to measure loss and latency; 0 without measurement. */
    unsigned count;
    struct cluster_nodes nodes;
    struct cluster_sample sample;
    struct cluster_pairs pairs;
    bool left; /* The namespace could not be deleted. */
};
void diag_report_free(struct diag_report *report);
/* Returns the name of a cell in reports and causes: "pod-to-pod-ip/tcp", or in a cluster
 * "pod-to-pod-ip/tcp win-1 -> win-2". */
char *diag_report_cell_name(const struct diag_report *report, const struct diag_cell *cell);

struct diag_summary {
    /* Numbers of the cells that count (diag_report_counts()); slow cells count as pass. */
    unsigned pass, fail, skip, not_run;
    /* The number of flows that were asked (not skipped), and of those without a red cell. */
    unsigned flows, flows_pass;
};
/* Says whether the cell counts for success or failure. A failed cell of an extra flow does not
 * count; in the report of a single node, no cell of an extra flow counts. */
bool diag_report_counts(const struct diag_report *report, const struct diag_cell *cell);
void diag_summary_make(const struct diag_report *report, struct diag_summary *ret);
/* Returns true (exit code 0) when at least one cell that counts passed, all others passed or were
 * slow or skipped by design, and in a cluster's report no cause is confirmed. False means exit code
 * 5. A cell that was not run is no success. */
bool diag_report_is_good(const struct diag_report *report);
/* Returns a time for people, such as "0.4 ms" or "33 ms". */
char *diag_latency_text(unsigned microseconds);

/* Returns the result in one line: "9 of 9 flows work, TCP and UDP, 54 probes", or "54 of 56 cells
 * work, 4 nodes in 6 pairs". */
char *diag_report_line(const struct diag_report *report);

struct diag_text_style {
    bool utf8;  /* Prints arrows and check marks; otherwise ->, ok, !!, --. */
    bool color; /* Prints ANSI colors. */
    /* The terminal's width; 0 or more than 80 means 80. Below 68, TCP and UDP each get a line. */
    unsigned columns;
};
/* Returns the matrix and the causes as text. */
char *diag_report_text(const struct diag_report *report, const struct diag_text_style *style);
/* Returns the document DiagReport or ClusterDiagReport, whose form is a contract with users. New
 * reference. */
json_t *diag_report_json(const struct diag_report *report);
/* Returns only the member flows[] of DiagReport, for JoinResult. New reference. */
json_t *diag_flows_json(const struct diag_report *report);
/* Returns one testsuite with one testcase for each cell. */
char *diag_report_junit(const struct diag_report *report);
/* Returns one page that loads nothing from elsewhere. */
char *diag_report_html(const struct diag_report *report);
/* Returns the text format of Prometheus: gauges of the flows (up, latency, loss), of the causes and
 * of the whole result. */
char *diag_report_metrics(const struct diag_report *report);
/* Reads such a document back (diag --replay), of that kind, or of any kind when NULL. Causes are
 * not read, as they will be judged again. Fails with ERROR_MALFORMED, also for more than
 * CLUSTER_NODES_MAX nodes or CLUSTER_CELLS_MAX cells. */
enum { CLUSTER_NODES_MAX = 5000, CLUSTER_CELLS_MAX = 150000 };
int diag_report_read(const char *text, size_t len, const char *kind, struct diag_report *ret,
                     struct error *err);
/* Makes the lines of a table that shows the progress: a row for each flow and family, with TCP and
 * UDP as "waiting", "running", "again", "works", "fails", "skipped" or "not run". `begun` says that
 * the pods run. Pure. */
void diag_cells_progress(const struct diag_cells *cells, bool begun, struct text_list *ret);

/* ---- what changed between two reports (diag --compare); these functions are pure ---- */

/* Returns {since, worse, cells[{cell, was, is, worse, reason?}], causesNew[], causesGone[]}, a new
 * reference. `cells` are those that became red or green, that are skipped now or no longer, and
 * that only one report has ("absent" in the other). `worse` means that a cell of the nine flows is
 * red now and was not, or that a cause is new. For a cluster there are also nodesNew[] and
 * nodesGone[], and a cell of only one report is listed only if it is red. The causes of both
 * reports must be judged already. */
json_t *diag_report_compare(const struct diag_report *old, const struct diag_report *new);
/* Returns the result of diag_report_compare() as text for people. */
char *diag_compare_text(const json_t *compared);
/* Says whether anything changed. */
bool diag_compare_changed(const json_t *compared);
/* Returns the present state (`line`, at `time`) and what changed, each line with the time (diag
 * --watch). `causes` are those of the newer report. */
char *diag_watch_text(const json_t *compared, int64_t time, const char *line,
                      const struct diag_causes *causes);
/* Makes {time, good, summary, causes[]} from a report's document, with the members of `compared`;
 * `good` means that the exit code would be 0. Returns a new reference. */
json_t *diag_watch_json(const json_t *compared, const json_t *report, bool good);
