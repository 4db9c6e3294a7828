/* Arguments of the kubelet that are also settings of winjoin, and are checked in the same way. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "join/configuration/join_options.h"

/* Checks an argument; `name` has no dashes at its front. Refuses (ERROR_USAGE, with hints) a value
 * that winjoin's flag with the same meaning refuses, and a value with which the kubelet would not
 * start. All other arguments pass. */
int kubelet_argument_check(const char *name, const char *value, struct error *err);
/* Takes one of the kubeletExtraArgs of a JoinConfiguration into the options. An argument for which
 * winjoin has a flag becomes that option, unless the flag is given. A setting for Linux nodes only
 * is left out with a warning. All others, also the two addresses of a dual-stack node-ip, are added
 * to kubelet_extra_args. */
void kubelet_argument_take(const char *name, const char *value, struct join_options *options,
                           struct text_list *warnings);

/* A field of a KubeletConfiguration that is removed for Windows nodes. With `gate`, the field is
 * kept when the document turns this feature gate on. With `only`, the field is removed only when
 * its value begins with this text. Both may be NULL. The table ends with {0}. */
struct linux_setting {
    const char *field, *gate, *only;
};
extern const struct linux_setting linux_settings[];

/* Returns true for an argument of the kubelet, without dashes at its front, that is a setting of
 * Linux nodes: "cgroup-driver" for cgroupDriver, and arguments such as resolv-conf that winjoin
 * sets to what Windows needs. False when a feature gate decides. */
bool linux_setting_is_argument(const char *name, const char *value);

/* ---- settings that the kubelet reads only when its container runtime answers, so that
 * kubelet_question_ask() cannot check them: quantities of resources, thresholds of evictions.
 * Sources: kubernetes/cmd/kubelet/app/server.go (parseResourceList),
 * pkg/kubelet/eviction/helpers.go (ParseThresholdConfig), pkg/kubelet/logs/container_log_manager.go
 * (parseMaxSize). ---- */

/* Refuses (ERROR_USAGE, with the field, its value and what is valid) values with which the kubelet
 * would not start. `arguments` are the kubeletExtraArgs "name=value", which replace fields. */
int kubelet_quantities_check(const json_t *config, const struct text_list *arguments,
                             struct error *err);
/* Checks the value of one argument as kubelet_quantities_check() does. The name has no dashes at
 * its front: "system-reserved", "cpu=100m,memory=1Gi". */
int kubelet_quantities_check_argument(const char *name, const char *value, struct error *err);

/* ---- the labels that a kubelet may give its own Node ---- */

/* Checks labels in the form of the kubelet's --node-labels, "a=b,c=d", or NULL. Refuses
 * (ERROR_USAGE) labels with which the kubelet would not start, and labels that NodeRestriction
 * reserves for administrators: keys of kubernetes.io and k8s.io that are not on the kubelet's list
 * (upstream k8s.io/kubelet/pkg/apis/well_known_labels.go, cmd/kubelet/app/options). */
int node_labels_check(const char *labels, struct error *err);

/* Returns true for "name" or "domain/name", as apimachinery's IsQualifiedName does: the name has at
 * most 63 letters, digits, '-', '_' and '.', and begins and ends with a letter or digit. `len` is
 * in bytes. */
bool is_qualified_name(const char *text, size_t len);

/* Returns why the kubelet would not start with this taint, or NULL when it would. NULL parts are
 * missing. A value is empty or a qualified name without a domain. Sources: parseTaint in
 * k8s.io/kubernetes/pkg/util/taints; IsValidLabelValue in the validation of apimachinery. */
const char *node_taint_problem(const char *key, const char *value, const char *effect);
/* Checks taints in the form of the kubelet's --register-with-taints, "key=value:effect,key:effect",
 * or NULL. Refuses (ERROR_USAGE) taints with which the kubelet would not start. */
int node_taints_check(const char *taints, struct error *err);
