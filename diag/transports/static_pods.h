/* The two probe pods as static pods: manifests, mailboxes, and taking them away again.
 *
 * The kubelet runs them through the whole real path (CRI, CNI, HNS) without any right in the
 * cluster. Their image is the sandbox image, which is on the node anyway; the probe and its mailbox
 * come from the host at the same path inside and outside. */
#ifndef DIAG_TRANSPORTS_STATIC_PODS_H
#define DIAG_TRANSPORTS_STATIC_PODS_H

#include <stddef.h>

#include "base/json.h"
#include "diag/probe/probe.h"
#include "host/host.h"

#define DIAG_PROBE_FOLDER "C:\\ProgramData\\winjoin\\probe"
#define DIAG_PROBE_PROGRAM DIAG_PROBE_FOLDER "\\bin\\winjoin-probe.exe"
#define DIAG_POD_A "winjoin-probe-a"
#define DIAG_POD_B "winjoin-probe-b"

/* Text is borrowed. */
struct diag_pod_options {
    const char *manifest_folder; /* NULL = C:\etc\kubernetes\manifests */
    const char *sandbox_image;   /* NULL = "registry.k8s.io/pause:3.10.1" */
    const char *namespace_;      /* NULL = "kube-system" */
    unsigned echo_port;          /* 0 = PROBE_PORT */
    /* Makes this pair of pods unlike any earlier one, NULL = not. A kubelet knows a static pod by
     * its manifest's hash: the same manifest again is the same pod, which has ended already. */
    const char *run;
};
/* The Pod object of `which` ('a' or 'b'). New reference. */
json_t *diag_pod_make(const struct diag_pod_options *options, char which);
/* "C:\ProgramData\winjoin\probe\a"; the caller frees. */
char *diag_pod_mailbox(char which);

/* Lays program, mailboxes (emptied) and manifests. Kinds: ERROR_HOST, ERROR_DENIED. */
int diag_pods_lay(struct host *host, const struct diag_pod_options *options, const void *program,
                  size_t program_len, struct error *err);
/* Tells the probes to end and waits at most 5 s for them, removes the manifests, then what was
 * laid; waits at most 15 s for pods that still hold it. Absent is success. Goes on after a failure
 * and answers the first one. */
int diag_pods_remove(struct host *host, const struct diag_pod_options *options, struct error *err);

/* What keeps a pod from running, from its Pod object: "ErrImagePull: <message>" or "Pending"; NULL
 * when nothing does. The caller frees. */
char *diag_pod_waiting_text(const json_t *pod);

/* The pod's last heartbeat. ERROR_ABSENT while there is none, ERROR_MALFORMED. */
int diag_pod_heartbeat(struct host *host, char which, struct probe_heartbeat *ret,
                       struct error *err);
/* Asks the pod: writes probes.txt and go-<generation>. Generations count from 1. */
int diag_pod_ask(struct host *host, char which, unsigned generation,
                 const struct probe_list *probes, struct error *err);
/* ERROR_ABSENT while the answer is not there yet, ERROR_MALFORMED. */
int diag_pod_answer(struct host *host, char which, unsigned generation, struct probe_results *ret,
                    struct error *err);

#endif
