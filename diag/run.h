/* The diagnosis of this node: probe pods laid, asked, judged and taken away. */
#ifndef DIAG_RUN_H
#define DIAG_RUN_H

#include <stddef.h>

#include "diag/evidence.h"
#include "diag/reports/report.h"
#include "diag/transports/static_pods.h"

/* Called when something begins, waits or ends; `message` is one line, e.g. "waiting for
 * winjoin-probe-b to start (12 s)". */
typedef void diag_progress(void *context, const char *message);
/* What keeps a probe pod from starting, as the kubelet reports it in the API ("ErrImagePull: ...");
 * NULL when nothing is known. The caller of the function frees. */
typedef char *diag_pod_waiting(void *context, const char *pod, const char *namespace_);
/* Measures on the node; NULL in the options means probe_measure(). */
typedef void diag_measure(void *context, const struct probe *probe, struct probe_result *ret);

/* Text and JSON are borrowed for the call; zero-initialise, NULL or 0 = default. */
struct diag_options {
    const void *program; /* bytes of winjoin-probe.exe */
    size_t program_len;
    struct diag_pod_options pods;
    struct diag_scene scene; /* pods' addresses and the node's echo are filled in by the run */
    struct diag_evidence_options evidence;
    unsigned start_timeout_ms;  /* for both pods to speak; 0 = 120 s */
    unsigned settle_timeout_ms; /* for red cells to turn green (kube-proxy may be slow); 0 = 20 s */
    diag_progress *progress;
    void *progress_context;
    diag_pod_waiting *waiting; /* NULL = nobody can say */
    void *waiting_context;
    diag_measure *measure;
    void *measure_context;
};
/* Runs the whole diagnosis; 0 whenever there is a report, red or green (diag_report_is_good()):
 * pods that do not start make cells not-run and a cause. The pods are removed in any case. Kinds of
 * failure: ERROR_HOST, ERROR_DENIED (could not lay the pods), ERROR_INTERRUPTED. */
int diag_run_node(struct host *host, const struct diag_options *options, struct diag_report *ret,
                  struct error *err);
/* Takes away what a killed run left: the firewall rule of its echo, the probe pods' folder while
 * the kubelet runs. Fails as diag_pods_remove() does. */
int diag_remove_left(struct host *host, struct error *err);

#endif
