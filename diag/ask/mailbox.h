/* The probes of a node: started as static pods, asked through a folder that they share with the
 * node, read and taken away. */
#pragma once

#include "base/json.h"
#include "diag/probe/probe.h"
#include "host/host.h"
#include "kube/client.h"

/* What the caller knows; borrowed, NULL = unknown. */
struct diag_probe_options {
    const void *program; /* bytes of winjoin-probe.exe */
    size_t program_len;
    const char *manifest_folder;      /* the kubelet's; NULL = C:\etc\kubernetes\manifests */
    const char *sandbox_image;        /* NULL = "registry.k8s.io/pause:3.10.1" */
    const char *node_name;            /* the node that winjoin runs on */
    const struct kube_client *client; /* NULL = the API cannot be asked */
    const char *run; /* filled in by the run, unlike any earlier one's: heartbeats repeat it */
};

/* One probe of a run. */
struct diag_probe {
    char name[PROBE_NAME_MAX + 1]; /* in messages, and as its echo answers */
    bool beats;                    /* its program runs: `beat` is filled */
    bool spoke;                    /* and its echoes stand, at an address of its own */
    struct probe_heartbeat beat;
    unsigned asked; /* how many lists it was asked */
    /* What diag_probe_waiting() found: so often its program was started, one time after the other,
     * and ended or could not be started for the same reason. */
    unsigned failures;
    char failure[200]; /* that reason, and all of its ends */
    unsigned failures_all, failures_before;
};
/* Both probes of a run. */
struct diag_probes {
    struct host *host;
    const struct diag_probe_options *options;
    struct diag_probe *items; /* owned */
    size_t count;
    int64_t began; /* when they were started, seconds since 1970; 0 = they were not */
};

#define DIAG_PROBES_NAMESPACE "kube-system"
/* All that is written on this node, beside manifests. */
#define DIAG_PROBES_FOLDER "C:\\ProgramData\\winjoin\\probe"

/* Adds the probes and starts them, after what a killed run left is taken away. Does not wait for
 * them to speak. Kinds: ERROR_HOST. */
int diag_probes_start(struct diag_probes *probes, struct error *err);
/* Ends the probes and takes away all that their start made, and what a killed run left; also after
 * a start that failed, and without one. Absent is success. Goes on after a failure and answers the
 * first one. */
int diag_probes_remove(struct diag_probes *probes, struct error *err);
/* What a probe says of itself: its addresses, its listeners, the run it was started for.
 * ERROR_ABSENT while it says nothing, ERROR_MALFORMED. */
int diag_probe_look(const struct diag_probes *probes, size_t i, struct probe_heartbeat *ret,
                    struct error *err);
/* What keeps a probe from starting ("ErrImagePull: ..."), NULL = nothing is known; fills
 * items[i].failures. The caller frees. */
char *diag_probe_waiting(struct diag_probes *probes, size_t i);
/* Tells a probe what to measure, without waiting for it; items[i].asked counts this list already.
 * Fails when the probe cannot be told. */
int diag_probe_ask(const struct diag_probes *probes, size_t i, const struct probe_list *list,
                   struct error *err);
/* The results of the list that was asked last: 1 = they are in *ret, 0 = not yet, -1 = there will
 * be none. */
int diag_probe_read(const struct diag_probes *probes, size_t i, struct probe_results *ret,
                    struct error *err);

/* ---- what their Pods say ---- */

/* The Pod of that name ("winjoin-probe-a"). New reference. */
json_t *static_pod_make(const struct diag_probe_options *options, const char *name);
/* How the pod's first container ended last, and how often it has: "its program ends with exit code
 * 128: <message>" (StartError), from its Pod object; NULL: it never did, or well. The caller frees.
 */
char *static_pod_last_end(const json_t *pod, unsigned *ret_ends);
