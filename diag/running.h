/* What a running diagnosis knows, tells, waits for and reads; for run.c and its parts alone. */
#pragma once

#include "diag/probe/probe.h"
#include "diag/run.h"
#include "host/wait.h"

/* The node's matrix: the first probe asks, the second one is asked. */
enum { SOURCE, TARGET };

struct run {
    struct host *host;
    const struct diag_options *options;
    struct diag_scene scene;
    struct diag_report *report;
    struct node_echo *echo; /* the node's, NULL when it could not be opened */
    struct diag_probe_options probe_options;
    struct diag_probes probes;
    struct probe_work *node_work; /* what the node measures itself, at the same time; or NULL */
    struct drift_cluster cluster; /* what Kubernetes says, once it was asked (`unread` is there) */
    bool evidence_is_new;         /* read since the last list was asked */
    bool extras_are_asked; /* also those at addresses that the evidence names; after a start it is
                              not read before a flow fails */
    char *network_name, *network_mode; /* as the CNI configuration has them, NULL = not known */
    json_t *look;                      /* options->look, its services as they are now; or NULL */
    json_t *captured;                  /* what a capture showed, or NULL */
    bool up;                           /* all probes have spoken, or are waited for no more: */
    uint64_t up_ms;                    /* since then */
    const char *down;                  /* the service without which no pod can start, or NULL */
    char id[17]; /* of this run: a probe of an earlier one is not listened to */
};

void run_tell_wait(const struct run *run, const struct wait *wait, const char *message);
void run_tell(const struct run *run, const char *format, ...)
    __attribute__((format(gnu_printf, 2, 3)));
void run_tell_cells(const struct run *run, const struct diag_cells *cells);
/* What a look that has to come again answers; the node's own probes go on. */
enum wait_look run_again(const struct run *run);
/* wait_until() for looks that answer so. */
enum wait_look run_wait(struct run *run, struct wait wait, struct error *err);

/* Reads what can be read without the pods, in bounded time: HNS may hang. */
void run_read_evidence(struct run *run);

/* matrix.c */

/* Measures all cells; *ret has what was found beyond them, too. Then the red ones again for a
 * while: kube-proxy and DNS need it after a start, and what turns green within it is slow, not
 * broken. Where nothing was started lately there is nothing to wait for. */
int run_measure_cells(struct run *run, struct probe_results *ret, struct error *err);
/* Asks the first red cell again while packets are captured; run->captured is
 * {flow, drops[]} (diag_capture_drops()) or {flow, error}. Without a red cell nothing is done. */
int run_capture(struct run *run, struct error *err);
