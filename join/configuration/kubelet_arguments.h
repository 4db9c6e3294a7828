/* Arguments of the kubelet that are settings of winjoin, too, and are judged as those are. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "join/configuration/join_options.h"

/* `name` without dashes. Refuses (ERROR_USAGE, with hints) what the flag of winjoin with this
 * meaning refuses, and what the kubelet would end with at its start; others pass. */
int kubelet_argument_check(const char *name, const char *value, struct error *err);
/* Takes one of a JoinConfiguration into the options: what winjoin has a flag for becomes that
 * option, unless the flag is given; what is Linux's alone is left out, with a warning; all else,
 * also the two addresses of a dual-stack node-ip, is added to kubelet_extra_args. */
void kubelet_argument_take(const char *name, const char *value, struct join_options *options,
                           struct text_list *warnings);

/* A field of a KubeletConfiguration that a Windows node does without. `gate`: kept when the
 * document turns this feature gate on; NULL: none. `only`: removed only when its value begins like
 * this; NULL: always. The table ends with {0}. */
struct linux_setting {
    const char *field, *gate, *only;
};
extern const struct linux_setting linux_settings[];

/* The same as an argument of the kubelet, without dashes ("cgroup-driver" for cgroupDriver), also
 * one that winjoin sets to what Windows needs (resolv-conf). False where a feature gate decides. */
bool linux_setting_is_argument(const char *name, const char *value);

/* ---- settings that the kubelet reads only when its runtime answers, so that it cannot be asked
 * about them (kubelet_question_ask()): quantities of resources, thresholds of evictions. Sources:
 * kubernetes/cmd/kubelet/app/server.go (parseResourceList), pkg/kubelet/eviction/helpers.go
 * (ParseThresholdConfig), pkg/kubelet/logs/container_log_manager.go (parseMaxSize). ---- */

/* Refuses (ERROR_USAGE, with the field, its value and what is right) what the kubelet would end
 * with at its start. `arguments`: "name=value" of kubeletExtraArgs, which win over fields. */
int kubelet_quantities_check(const json_t *config, const struct text_list *arguments,
                             struct error *err);
/* The same of one argument, without dashes: "system-reserved", "cpu=100m,memory=1Gi". */
int kubelet_quantities_check_argument(const char *name, const char *value, struct error *err);

/* ---- the labels that a kubelet may give its own Node ---- */

/* labels: "a=b,c=d" as for the kubelet's --node-labels, or NULL. Refuses (ERROR_USAGE) what the
 * kubelet ends with at its start, and what NodeRestriction keeps for administrators: keys of
 * kubernetes.io and k8s.io that are not among those left to the kubelet (upstream
 * k8s.io/kubelet/pkg/apis/well_known_labels.go, cmd/kubelet/app/options). */
int node_labels_check(const char *labels, struct error *err);

/* apimachinery validation IsQualifiedName: "name" or "domain/name", the name of at most 63 letters,
 * digits, '-', '_' and '.', the first and the last a letter or digit. `len` bytes. */
bool is_qualified_name(const char *text, size_t len);

/* Why the kubelet would not start with this taint (NULL values are missing ones), or NULL
 * (k8s.io/kubernetes/pkg/util/taints: parseTaint; a value is such a name without a domain, or
 * empty: apimachinery validation IsValidLabelValue). */
const char *node_taint_problem(const char *key, const char *value, const char *effect);
/* taints: "key=value:effect,key:effect" as for the kubelet's --register-with-taints, or NULL.
 * Refuses (ERROR_USAGE) what the kubelet ends with at its start. */
int node_taints_check(const char *taints, struct error *err);
