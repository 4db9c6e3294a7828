/* Diagnoses a node: starts probes, asks them, judges the answers, and removes the probes. */
#pragma once

#include "diag/evidence.h"
#include "diag/reports/report.h"
#include "diag/ask/mailbox.h"

/* A callback for progress, called when a step begins or ends, and about once a second while
 * something is waited for, such as "waiting for winjoin-probe-b to start". Both times are 0 when
 * nothing is waited for. */
typedef void diag_progress(void *context, unsigned waited_ms, unsigned left_ms,
                           const char *message);
/* A callback that shows the cells while they become known. `begun` says that the pods run; before
 * that, all cells wait. */
typedef void diag_cells_changed(void *context, const struct diag_cells *cells, bool begun);
/* Measures a probe on the node itself; NULL in the options means probe_measure(). */
typedef void diag_measure(void *context, const struct probe *probe, struct probe_result *ret);

/* Text and JSON are borrowed during the call. The caller zero-initializes the options; NULL or 0
 * means the default. */
struct diag_options {
    struct diag_probe_options probes;
    /* The run itself fills in the members about the probes and the node's echo listener. */
    struct diag_flow_input flow_input;
    struct diag_evidence_options evidence;
    /* From diag_look(). If it shows that no pod can start, nothing is measured. The states of its
     * services are read again while the probe pods are waited for. */
    const json_t *look;
    /* Asks the first red cell again while packets are captured; the result becomes
     * evidence.capture. */
    bool capture;
    unsigned start_timeout_ms; /* For all probes to get ready; 0 means 120 s. */
    /* For red cells to pass, since kube-proxy may be slow; 0 means 20 s. */
    unsigned settle_timeout_ms;
    diag_progress *progress;
    diag_cells_changed *cells; /* May be NULL; called with progress_context. */
    void *progress_context;
    diag_measure *measure;
    void *measure_context;
};
/* Runs the whole diagnosis. Returns 0 whenever there is a report, of success or failures
 * (diag_report_is_good()): probes that do not start lead to cells that were not run, and to a
 * cause. The probes are removed in any case. Fails as diag_probes_start() and diag_probe_ask(), or
 * with ERROR_INTERRUPTED. */
int diag_run(struct host *host, const struct diag_options *options, struct diag_report *ret,
             struct error *err);
/* Removes what a killed run left on this node: the firewall rule of the node's echo listener, and
 * the probes if the kubelet runs. Fails as diag_probes_remove() does. */
int diag_remove_left(struct host *host, struct error *err);
