/* ConfigMaps: one value, or all data. */
#pragma once

#include "kube/client.h"

/* The whole object, which must not be of another kind. Tries retryable failures again for up to
 * timeout_ms. */
int kube_configmap_get(struct kube_client *client, const char *name_space, const char *name,
                       unsigned timeout_ms, json_t **ret, struct error *err);
/* data[key] (borrowed), or NULL when absent, empty or no text. */
const char *kube_configmap_value(const json_t *configmap, const char *key);
