/* Starts a node's probes as static pods, asks and reads each through a folder that it shares with
 * the node, and removes them. */
#pragma once

#include "base/json.h"
#include "diag/probe/probe.h"
#include "host/host.h"
#include "kube/client.h"

/* What the caller knows. All pointers are borrowed; NULL means unknown. */
struct diag_probe_options {
    const void *program; /* The bytes of winjoin-probe.exe. */
    size_t program_len;
    /* The kubelet's folder of static pods; NULL means C:\etc\kubernetes\manifests. */
    const char *manifest_folder;
    /* The sandbox image; NULL means "registry.k8s.io/pause:3.10.1". */
    const char *sandbox_image;
    const char *node_name; /* The name of the node that winjoin runs on. */
    /* A client for the API; NULL means that the API cannot be asked. */
    const struct kube_client *client;
    /* The id of this run, set by the run itself and different from any earlier one's: heartbeats
     * repeat it. */
    const char *run;
};

/* One of the two probes of a run. */
struct diag_probe {
    /* The probe's name in messages, and the answer of its echo listeners. */
    char name[PROBE_NAME_MAX + 1];
    bool beats; /* The probe's program runs, and `beat` is filled. */
    bool spoke; /* The probe's echo listeners are open, at an address of its own. */
    struct probe_heartbeat beat;
    unsigned asked; /* The number of lists that this probe was asked so far. */
    /* Set by diag_probe_waiting(): how often in a row the probe's program ended, or could not be
     * started, for the same reason. */
    unsigned failures;
    /* That reason, then the ends of the program since the pod began, and those of them that had an
     * earlier reason. */
    char failure[200];
    unsigned failures_all, failures_before;
};
/* Both probes of a run. */
struct diag_probes {
    struct host *host;
    const struct diag_probe_options *options;
    struct diag_probe *items; /* The array of probes is owned. */
    size_t count;
    /* When the probes were started, in seconds since 1970; 0 when they were not. */
    int64_t began;
};

#define DIAG_PROBES_NAMESPACE "kube-system"
/* The folder with all files that the probes need on this node, except their manifests. */
#define DIAG_PROBES_FOLDER "C:\\ProgramData\\winjoin\\probe"

/* Adds the probes to `probes` and starts them, after it removed what a killed run left. Does not
 * wait for their first heartbeat. Fails with ERROR_HOST. */
int diag_probes_start(struct diag_probes *probes, struct error *err);
/* Ends the probes and removes all that their start made, and what a killed run left. May be called
 * after a failed start, or without a start: absent files are a success. Goes on after a failure,
 * and returns the first one. */
int diag_probes_remove(struct diag_probes *probes, struct error *err);
/* Reads a probe's heartbeat: its addresses, its listeners, and the run that it was started for.
 * Fails with ERROR_ABSENT while there is no heartbeat, ERROR_MALFORMED when it does not parse. */
int diag_probe_heartbeat(const struct diag_probes *probes, size_t i, struct probe_heartbeat *ret,
                         struct error *err);
/* Returns what keeps a probe from starting ("ErrImagePull: ..."), or NULL when nothing is known.
 * Fills items[i].failures. The caller frees it. */
char *diag_probe_waiting(struct diag_probes *probes, size_t i);
/* Tells a probe what to measure, and does not wait for its results; the caller has already counted
 * this list in items[i].asked. Fails when the list cannot be written into the mailbox. */
int diag_probe_ask(const struct diag_probes *probes, size_t i, const struct probe_list *list,
                   struct error *err);
/* Reads the results of the list that the probe was asked last. Returns 1 when they are in *ret, 0
 * when they are not there yet, -1 when they do not parse. */
int diag_probe_read(const struct diag_probes *probes, size_t i, struct probe_results *ret,
                    struct error *err);

/* ---- the Pod objects of the probes ---- */

/* Makes the Pod with that name ("winjoin-probe-a"). Returns a new reference. */
json_t *static_pod_make(const struct diag_probe_options *options, const char *name);
/* Reads from the Pod object how the pod's first container ended last: "its program ends with exit
 * code 128: <message>" (StartError). *ret_ends is set to the number of its ends. NULL when it never
 * ended, or ended with code 0. The caller frees it. */
char *static_pod_last_end(const json_t *pod, unsigned *ret_ends);
