/* Settings of the kubelet that it reads only when its runtime answers, so that it cannot be asked
 * about them (join/kubelet/kubelet_question.h): quantities of resources, thresholds of evictions.
 * Sources: kubernetes/cmd/kubelet/app/server.go (parseResourceList),
 * pkg/kubelet/eviction/helpers.go (ParseThresholdConfig), pkg/kubelet/logs/container_log_manager.go
 * (parseMaxSize). */
#pragma once

#include "base/json.h"

/* Refuses (ERROR_USAGE, with the field, its value and what is right) what the kubelet would end
 * with at its start. `arguments`: "name=value" of kubeletExtraArgs, which win over fields. */
int kubelet_quantities_check(const json_t *config, const struct text_list *arguments,
                             struct error *err);
/* The same of one argument, without dashes: "system-reserved", "cpu=100m,memory=1Gi". */
int kubelet_quantities_check_argument(const char *name, const char *value, struct error *err);
