/* The state of a running diagnosis, and its steps. Only for run.c and its parts (matrix.c,
 * run_state.c). */
#pragma once

#include "diag/probe/probe.h"
#include "diag/run.h"
#include "host/wait.h"

/* Indexes of the two probes: the first probe asks, the second one is asked. */
enum { SOURCE, TARGET };

/* A diagnosis of this node that runs. */
struct diag_run {
    struct host *host;
    const struct diag_options *options;
    struct diag_flow_input flow_input;
    struct diag_report *report;
    /* The node's echo listener; NULL when it could not be opened. */
    struct node_echo *echo;
    struct diag_probe_options probe_options;
    struct diag_probes probes;
    /* The node's own measurements, which run at the same time; NULL when no measurement runs. */
    struct probe_work *node_work;
    /* What Kubernetes says; `unread` is set once it was asked. */
    struct drift_cluster cluster;
    /* The evidence was read after the last list of questions was sent. */
    bool evidence_is_new;
    /* The extra questions were asked, with those to addresses that the evidence names. Right after
     * a start of the services, the evidence is read only when a flow fails. */
    bool extras_asked;
    char *network_name, *network_mode; /* From the CNI configuration; NULL means unknown. */
    /* A copy of options->look with the present states of the services; may be NULL. */
    json_t *look;
    json_t *captured; /* The result of a capture, or NULL. */
    /* All probes are ready, or are no longer waited for; and since when (host_monotonic_ms()). */
    bool up;
    uint64_t up_ms;
    /* The service without which no pod can start, when it is down; otherwise NULL. */
    const char *down;
    char id[17]; /* The id of this run: heartbeats of an earlier run are ignored. */
};

void run_tell_wait(const struct diag_run *run, const struct wait *wait, const char *message);
void run_tell(const struct diag_run *run, const char *format, ...)
    __attribute__((format(gnu_printf, 2, 3)));
void run_tell_cells(const struct diag_run *run, const struct diag_cells *cells);
/* Returns the value that makes a poll repeat, and lets the node's own probes continue. */
enum wait_poll run_again(const struct diag_run *run);
/* Calls wait_until() with a poll that ends with run_again(). */
enum wait_poll run_wait(struct diag_run *run, struct wait wait, struct error *err);

/* Reads the evidence that needs no pods, in limited time, because HNS may hang. */
void run_read_evidence(struct diag_run *run);

/* ---- functions in matrix.c ---- */

/* Measures all cells. *ret also gets the results of the extra questions. Then measures red cells
 * again for a while: after a start, kube-proxy and DNS need that time, and a cell that passes
 * within it is slow, not broken. If nothing was started lately, nothing is measured again. */
int run_measure_cells(struct diag_run *run, struct probe_results *ret, struct error *err);
/* Asks the first failed cell again while packets are captured. run->captured becomes {flow,
 * drops[]} (diag_capture_drops()) or {flow, error}. Does nothing when no cell failed. */
int run_capture(struct diag_run *run, struct error *err);
