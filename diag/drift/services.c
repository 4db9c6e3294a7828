/* What Kubernetes says of Services and their endpoints. */
#include "diag/drift/kinds.h"

#include "kube/object.h"

static void add_vip(const char *vip, struct text_list *ret) {
    if (vip && *vip)
        text_list_add(ret, vip);
}

void drift_add_vips(const json_t *service, struct text_list *ret) {
    static const char *const lists[] = {"spec.clusterIPs", "spec.externalIPs"};
    const char *first = json_text_or(service, "spec.clusterIP", "");

    add_vip(first, ret);
    for (size_t k = 0; k < ARRAY_SIZE(lists); k++)
        json_each(json_at(service, lists[k]), i, item)
            if (!text_equal(json_string_value(item), first))
                add_vip(json_string_value(item), ret);
    json_each(json_at(service, "status.loadBalancer.ingress"), i, item)
        add_vip(json_text_at(item, "ip"), ret);
}

const json_t *drift_service_at(const json_t *services, const char *vip) {
    json_each(json_object_get(services, "items"), i, item)
        if (vip && text_equal(json_text_at(item, "spec.clusterIP"), vip))
            return item;
    return NULL;
}

const char *drift_port_protocol(const json_t *port) {
    return json_text_or(port, "protocol", "TCP");
}

const char *drift_service_of(const json_t *slice) {
    return json_string_value(
        json_object_get(json_at(slice, "metadata.labels"), "kubernetes.io/service-name"));
}

bool drift_is_slice_of(const json_t *slice, const json_t *service) {
    return text_equal(drift_service_of(slice), json_text_at(service, "metadata.name")) &&
           text_equal(json_text_at(slice, "metadata.namespace"),
                      json_text_at(service, "metadata.namespace"));
}

/* Where the Service's pods are, as its EndpointSlices say. */
static json_t *nodes_of_pods(const json_t *slices, const json_t *service) {
    enum { PODS_MAX = 100 };
    json_t *pods = json_object();

    json_each(json_object_get(slices, "items"), i, slice) {
        if (!drift_is_slice_of(slice, service))
            continue;
        json_each(json_object_get(slice, "endpoints"), k, endpoint) {
            json_t *node = json_object_get(endpoint, "nodeName");

            json_each(json_object_get(endpoint, "addresses"), n, address)
                if (json_is_string(node) && json_is_string(address) &&
                    json_object_size(pods) < PODS_MAX)
                    json_object_set(pods, json_string_value(address), node);
        }
    }
    return pods;
}

json_t *drift_service_spec(const json_t *asked, const char *vip) {
    const json_t *service = drift_service_at(json_object_get(asked, "services"), vip);
    json_t *ports;

    if (!service)
        return NULL;
    ports = json_array();
    json_each(json_at(service, "spec.ports"), i, port) {
        _cleanup_(freep) char *text =
            xasprintf("%lld/%s", json_number_at(port, "port", 0), drift_port_protocol(port));

        json_array_append_new(ports, json_string(text));
    }
    return json_pack("{s:o, s:s*, s:o}", "ports", ports, "internalTrafficPolicy",
                     json_text_at(service, "spec.internalTrafficPolicy"), "pods",
                     nodes_of_pods(json_object_get(asked, "slices"), service));
}

static bool any_has(const json_t *services, const char *vip) {
    _cleanup_(text_list_free) struct text_list vips = {0};

    json_each(json_object_get(services, "items"), i, item)
        drift_add_vips(item, &vips);
    return text_list_has(&vips, vip);
}

int drift_ready_endpoints(const json_t *asked, const char *vip) {
    const json_t *services = json_object_get(asked, "services"),
                 *slices = json_object_get(asked, "slices"),
                 *service = drift_service_at(services, vip);
    int ready = 0;

    if (services && vip && *vip && !any_has(services, vip))
        return DRIFT_NO_SERVICE;
    if (!service || !slices)
        return -1;
    json_each(json_object_get(slices, "items"), i, slice) {
        if (!drift_is_slice_of(slice, service))
            continue;
        json_each(json_object_get(slice, "endpoints"), k, endpoint)
            ready += json_bool_at(endpoint, "conditions.ready", true);
    }
    return ready;
}
