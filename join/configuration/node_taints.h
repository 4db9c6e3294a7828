/* The taints that a kubelet registers its Node with. */
#pragma once

#include "base/error.h"

/* Why the kubelet would not start with this taint (NULL values are missing ones), or NULL
 * (k8s.io/kubernetes/pkg/util/taints: parseTaint). */
const char *node_taint_problem(const char *key, const char *value, const char *effect);
/* taints: "key=value:effect,key:effect" as for the kubelet's --register-with-taints, or NULL.
 * Refuses (ERROR_USAGE) what the kubelet ends with at its start. */
int node_taints_check(const char *taints, struct error *err);
