/* How diag reaches its probes: they are started, asked, read and taken away. A transport is one
 * constant in a file of its own beside this one; diag/run.c knows no more of it than what is
 * written here. */
#pragma once

#include "base/json.h"
#include "diag/probe/probe.h"
#include "host/host.h"
#include "kube/client.h"

/* What the caller knows; borrowed, NULL = unknown. Each transport reads what it needs. */
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
    /* What waiting() found: so often its program was started, one time after the other, and ended
     * or could not be started for the same reason. */
    unsigned failures;
    char failure[200]; /* the transport's own: that reason, and all of its ends */
    unsigned failures_all, failures_before;
};
/* All probes of a run. */
struct diag_probes {
    const struct diag_transport *transport;
    struct host *host;
    const struct diag_probe_options *options;
    struct diag_probe *items; /* owned; diag_probe_add() */
    size_t count;
    int64_t began; /* when start() was called, seconds since 1970; 0 = it was not */
    void *state;   /* the transport's own, from start() to remove() */
};
/* Adds a probe that has not spoken yet. */
void diag_probe_add(struct diag_probes *probes, const char *name);

struct diag_transport {
    const char *name;       /* "static-pods" */
    const char *namespace_; /* where its probe pods are */
    const char *folder;     /* all that it writes on this node, beside manifests; NULL = nothing */
    /* Adds the probes and starts them, after what a killed run left is taken away. Does not wait
     * for them to speak. Kinds: ERROR_HOST, ERROR_DENIED, ERROR_NETWORK. */
    int (*start)(struct diag_probes *probes, struct error *err);
    /* What a probe says of itself: its addresses, its listeners, the run it was started for.
     * ERROR_ABSENT while it says nothing, ERROR_MALFORMED. */
    int (*look)(struct diag_probes *probes, size_t i, struct probe_heartbeat *ret,
                struct error *err);
    /* What keeps a probe from starting ("ErrImagePull: ..."), NULL = nothing is known; fills
     * items[i].failures. The caller frees. */
    char *(*waiting)(struct diag_probes *probes, size_t i);
    /* Tells a probe what to measure, without waiting for it; items[i].asked counts this list
     * already. Fails when the probe cannot be told. */
    int (*ask)(struct diag_probes *probes, size_t i, const struct probe_list *list,
               struct error *err);
    /* The results of the list that was asked last: 1 = they are in *ret, 0 = not yet, -1 = there
     * will be none. */
    int (*read)(struct diag_probes *probes, size_t i, struct probe_results *ret, struct error *err);
    /* Ends the probes and takes away all that start() made, and what a killed run left; also after
     * a start() that failed, and without one. Absent is success. Goes on after a failure and
     * answers the first one. */
    int (*remove)(struct diag_probes *probes, struct error *err);
};

/* Pods that the kubelet of this node starts from files, asked through a folder: static_pods.c. */
extern const struct diag_transport diag_static_pods;

/* ---- what else is known of the static pods than how they are asked ---- */

/* The Pod of that name ("winjoin-probe-a"). New reference. */
json_t *static_pod_make(const struct diag_probe_options *options, const char *name);
/* What keeps a pod from running, from its Pod object: "ErrImagePull: <message>" or "Pending"; NULL
 * when nothing does. The caller frees. */
char *static_pod_waiting(const json_t *pod);
/* How the pod's first container ended last, and how often it has: "its program ends with exit code
 * 128: <message>" (StartError), from its Pod object; NULL: it never did, or well. The caller frees.
 */
char *static_pod_last_end(const json_t *pod, unsigned *ret_ends);
