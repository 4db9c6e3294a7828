/* What else is known of the static pods than how they are asked (transport.h). */
#pragma once

#include "base/json.h"
#include "diag/transports/transport.h"

/* The Pod of that name ("winjoin-probe-a"). New reference. */
json_t *static_pod_make(const struct diag_probe_options *options, const char *name);
/* What keeps a pod from running, from its Pod object: "ErrImagePull: <message>" or "Pending"; NULL
 * when nothing does. The caller frees. */
char *static_pod_waiting(const json_t *pod);
/* How the pod's first container ended last, and how often it has: "its program ends with exit code
 * 128: <message>" (StartError), from its Pod object; NULL: it never did, or well. The caller frees.
 */
char *static_pod_last_end(const json_t *pod, unsigned *ret_ends);
/* When the kubelet last had a sandbox for the pod, from its Pod object: seconds since 1970, of the
 * condition PodReadyToStartContainers or the start of a container; 0: not known. */
int64_t static_pod_sandbox_made(const json_t *pod);
