/* The condition PodNetworkProved of a Node: whether this node's pod network was measured, and still
 * is as it was then. For kubectl wait, health checks and autoscalers; written by the node itself
 * together with its report (diag/network_report_publish.h). Pure. */
#pragma once

#include <stdint.h>

#include "base/json.h"

#define NETWORK_PROOF_CONDITION "PodNetworkProved"
/* So long a measurement counts. */
enum { NETWORK_PROOF_TERM_SECONDS = 7 * 24 * 3600 };

/* A NodeCondition (Kubernetes API v1) made of a report as network_report_read() takes it. True:
 * every flow worked, and HNS lacks nothing since. False: a flow failed, or HNS lacks what
 * Kubernetes has; the reason is the first cause's id. Unknown: nothing was measured, or too long
 * ago. `before` is the Node's condition until now, NULL: it has none; lastTransitionTime stays
 * while the status does. `now` is the cluster's time. New reference. */
json_t *network_proof_condition(const json_t *report, const json_t *before, int64_t now);
/* The same right after HNS was restarted and its networks were made again: Unknown. */
json_t *network_proof_restored(const json_t *before, int64_t now);
/* Do both say the same, but for their times? */
bool network_proof_equal(const json_t *a, const json_t *b);
