/* A diagnosis: probes started, asked, judged and taken away. */
#pragma once

#include "diag/evidence.h"
#include "diag/reports/report.h"
#include "diag/ask/mailbox.h"

/* Called when something begins or ends, and about once a second while something is waited for, e.g.
 * "waiting for winjoin-probe-b to start"; times 0 where nothing is waited for. */
typedef void diag_progress(void *context, unsigned waited_ms, unsigned left_ms,
                           const char *message);
/* Told as cells become known; `begun`: the pods run, until then all of them wait. */
typedef void diag_cells_told(void *context, const struct diag_cells *cells, bool begun);
/* Measures on the node; NULL in the options means probe_measure(). */
typedef void diag_measure(void *context, const struct probe *probe, struct probe_result *ret);

/* Text and JSON are borrowed for the call; zero-initialise, NULL or 0 = default. */
struct diag_options {
    struct diag_probe_options probes;
    struct diag_scene scene; /* the probes and the node's echo are filled in by the run */
    struct diag_evidence_options evidence;
    const json_t *look; /* diag_look(): of a node on which no pod can start nothing is measured; its
                           services are looked at again while the probe pods are waited for */
    bool capture; /* ask the first red cell again while packets are captured: evidence.capture */
    unsigned start_timeout_ms;  /* for all probes to speak; 0 = 120 s */
    unsigned settle_timeout_ms; /* for red cells to turn green (kube-proxy may be slow); 0 = 20 s */
    diag_progress *progress;
    diag_cells_told *cells; /* or NULL; with progress_context */
    void *progress_context;
    diag_measure *measure;
    void *measure_context;
};
/* Runs the whole diagnosis; 0 whenever there is a report, red or green (diag_report_is_good()):
 * probes that do not start make cells not-run and a cause. They are taken away in any case. Kinds
 * of failure: those of diag_probes_start() and diag_probe_ask(), ERROR_INTERRUPTED. */
int diag_run(struct host *host, const struct diag_options *options, struct diag_report *ret,
             struct error *err);
/* Takes away what a killed run left on this node: the firewall rule of its echo, and its probes
 * while the kubelet runs. Fails as diag_probes_remove(). */
int diag_remove_left(struct host *host, struct error *err);
