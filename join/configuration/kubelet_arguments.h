/* Arguments of the kubelet that are settings of winjoin, too, and are judged as those are. */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "join/configuration/join_options.h"

/* `name` without dashes. Refuses (ERROR_USAGE, with hints) what the flag of winjoin with this
 * meaning refuses, and what the kubelet would end with at its start; others pass. */
int kubelet_argument_check(const char *name, const char *value, struct error *err);
/* Is it a setting that only winjoin may give to the kubelet, as it follows it itself? Static: the
 * flag; NULL: no. */
const char *kubelet_argument_flag(const char *name);
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
