/* Namespaces: a compartment each, and the endpoints and containers in them. */
#include <string.h>

#include "tests/hns/model.h"

int model_namespace_make(struct hns_model *m, json_t *space) {
    const char *key;
    json_t *other;

    if (!json_object_get(space, "Type"))
        json_object_set_new(space, "Type", json_string("Host"));
    if (!strcmp(model_text(space, "Type"), "HostDefault")) {
        json_object_foreach(m->objects[NAMESPACE], key, other) {
            if (!strcmp(model_text(other, "Type"), "HostDefault"))
                return model_fail(m, HR_DEFAULT_NAMESPACE, "%s", key);
        }
        json_object_set_new(space, "NamespaceId", json_integer(1));
    } else {
        json_object_set_new(space, "NamespaceId", json_integer((json_int_t)++m->next_namespace));
    }
    json_object_set(space, "NamespaceGuid", json_object_get(space, "ID"));
    json_object_set_new(space, "Resources", json_array());
    return 0;
}

/* The place of a resource in the list; -1 = not there. */
static long find_resource(const json_t *resources, const char *type, const char *id) {
    const json_t *resource;
    size_t i;

    json_array_foreach(resources, i, resource) {
        if (!strcmp(model_text(resource, "Type"), type) &&
            !strcmp(model_text(json_object_get(resource, "Data"), "Id"), id))
            return (long)i;
    }
    return -1;
}

static int change(struct hns_model *m, json_t *space, const char *request, const char *type,
                  const char *id) {
    json_t *resources = json_object_get(space, "Resources");
    long at = find_resource(resources, type, id);

    if (!strcmp(request, "Add")) {
        if (at < 0)
            json_array_append_new(resources,
                                  json_pack("{s:s, s:{s:s}}", "Type", type, "Data", "Id", id));
    } else if (!strcmp(request, "Remove")) {
        if (at < 0)
            return model_fail(m, HR_NOT_FOUND, "%s %s is not in the namespace", type, id);
        json_array_remove(resources, (size_t)at);
    } else {
        return model_fail(m, HR_UNSUPPORTED, "%s of a namespace's %s", request, type);
    }
    m->changed = true;
    return 0;
}

static int modify_endpoint(struct hns_model *m, json_t *space, const char *request,
                           const char *id) {
    json_t *endpoint = model_find(m, ENDPOINT, id);
    const char *in;

    if (!endpoint)
        return -1;
    in = model_text(endpoint, "HostComputeNamespace");
    if (model_endpoint_is_remote(endpoint))
        return model_fail(m, HR_REMOTE_ENDPOINT, "namespace");
    if (!strcmp(request, "Add") && *in && strcmp(in, model_text(space, "ID")))
        return model_fail(m, HR_OTHER_NAMESPACE, "%s", in);
    if (change(m, space, request, "Endpoint", model_text(endpoint, "ID")))
        return -1;
    if (!strcmp(request, "Add"))
        json_object_set(endpoint, "HostComputeNamespace", json_object_get(space, "ID"));
    else
        json_object_del(endpoint, "HostComputeNamespace");
    return 0;
}

int model_namespace_modify(struct hns_model *m, json_t *space, const json_t *request) {
    const char *resource = model_text(request, "ResourceType");
    const char *type = model_text(request, "RequestType");
    const json_t *settings = json_object_get(request, "Settings");
    bool endpoint = !strcmp(resource, "Endpoint");
    json_t *taken;
    int r;

    if (!endpoint && strcmp(resource, "Container"))
        return model_fail(m, HR_UNSUPPORTED, "ResourceType %s of a namespace", resource);
    if (model_take(m, endpoint ? model_endpoint_ref_schema : model_container_ref_schema, "Settings",
                   settings, &taken))
        return -1;
    r = endpoint ? modify_endpoint(m, space, type, model_text(taken, "EndpointId"))
                 : change(m, space, type, "Container", model_text(taken, "ContainerId"));
    json_decref(taken);
    return r;
}
