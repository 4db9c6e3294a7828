/* ConfigMaps: one value, or all data. */
#include "kube/configmap.h"

#include <stdlib.h>

#include "base/memory.h"

char *kube_configmap_path(const char *name_space, const char *name) {
    return xasprintf("/api/v1/namespaces/%s/configmaps/%s", name_space, name);
}

int kube_configmap_get(struct kube_client *client, const char *name_space, const char *name,
                       unsigned timeout_ms, json_t **ret, struct error *err) {
    _cleanup_(freep) char *path = kube_configmap_path(name_space, name);

    if (kube_get_retry(client, path, timeout_ms, ret, err) < 0)
        return error_prefix(err, "get the %s ConfigMap in namespace \"%s\"", name, name_space);
    return 0;
}

const char *kube_configmap_value(const json_t *configmap, const char *key) {
    const char *value = json_string_value(json_object_get(json_at(configmap, "data"), key));

    return value && *value ? value : NULL;
}
