/* ConfigMaps: one value, or all data. */
#include "kube/object.h"

int kube_configmap_get(struct kube_client *client, const char *name_space, const char *name,
                       unsigned timeout_ms, json_t **ret, struct error *err) {
    _cleanup_(freep) char *path =
        xasprintf("/api/v1/namespaces/%s/configmaps/%s", name_space, name);
    _cleanup_json_ json_t *object = NULL;

    if (kube_get_retry(client, path, timeout_ms, &object, err) < 0 ||
        kube_object_check(object, "ConfigMap", "v1", err) < 0)
        return error_prefix(err, "get the %s ConfigMap in namespace \"%s\"", name, name_space);
    *ret = take_ptr(object);
    return 0;
}

const char *kube_configmap_value(const json_t *configmap, const char *key) {
    const char *value = json_string_value(json_object_get(json_at(configmap, "data"), key));

    return value && *value ? value : NULL;
}
