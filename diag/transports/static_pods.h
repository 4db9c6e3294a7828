/* What else is known of the static pods than how they are asked (transport.h). */
#pragma once

#include "base/json.h"
#include "diag/transports/transport.h"

/* The Pod of that name ("winjoin-probe-a"). New reference. */
json_t *static_pod_make(const struct diag_probe_options *options, const char *name);
/* What keeps a pod from running, from its Pod object: "ErrImagePull: <message>" or "Pending"; NULL
 * when nothing does. The caller frees. */
char *static_pod_waiting(const json_t *pod);
