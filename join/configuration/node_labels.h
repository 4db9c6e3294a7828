/* The labels that a kubelet may give its own Node. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* labels: "a=b,c=d" as for the kubelet's --node-labels, or NULL. Refuses (ERROR_USAGE) what the
 * kubelet ends with at its start, and what NodeRestriction keeps for administrators: keys of
 * kubernetes.io and k8s.io that are not among those left to the kubelet (upstream
 * k8s.io/kubelet/pkg/apis/well_known_labels.go, cmd/kubelet/app/options). */
int node_labels_check(const char *labels, struct error *err);

/* apimachinery validation IsQualifiedName: "name" or "domain/name", the name of at most 63 letters,
 * digits, '-', '_' and '.', the first and the last a letter or digit. `len` bytes. */
bool is_qualified_name(const char *text, size_t len);
/* IsValidLabelValue: such a name without a domain, or nothing. */
bool is_label_value(const char *text, size_t len);

/* Why the kubelet would not start with this taint (NULL values are missing ones), or NULL
 * (k8s.io/kubernetes/pkg/util/taints: parseTaint). */
const char *node_taint_problem(const char *key, const char *value, const char *effect);
/* taints: "key=value:effect,key:effect" as for the kubelet's --register-with-taints, or NULL.
 * Refuses (ERROR_USAGE) what the kubelet ends with at its start. */
int node_taints_check(const char *taints, struct error *err);
