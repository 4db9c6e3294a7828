/* The labels that a kubelet may give its own Node. */
#pragma once

#include "base/error.h"

/* labels: "a=b,c=d" as for the kubelet's --node-labels, or NULL. Refuses (ERROR_USAGE) what the
 * kubelet ends with at its start, and what NodeRestriction keeps for administrators: keys of
 * kubernetes.io and k8s.io that are not among those left to the kubelet (upstream
 * k8s.io/kubelet/pkg/apis/well_known_labels.go, cmd/kubelet/app/options). */
int node_labels_check(const char *labels, struct error *err);
