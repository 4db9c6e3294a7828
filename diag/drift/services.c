/* What Kubernetes says of one Service. */
#include "diag/drift/kinds.h"

static const struct drift_service *service_at(const struct drift_cluster *cluster,
                                              const char *vip) {
    for (size_t i = 0; vip && *vip && cluster && i < cluster->service_count; i++)
        if (text_equal(cluster->services[i].vip, vip))
            return &cluster->services[i];
    return NULL;
}

/* Where the Service's pods are, as its EndpointSlices say. */
static json_t *nodes_of_pods(const struct drift_cluster *cluster,
                             const struct drift_service *service) {
    enum { PODS_MAX = 100 };
    json_t *pods = json_object();

    for (size_t i = 0; i < cluster->slice_count; i++) {
        const struct drift_slice *slice = &cluster->slices[i];

        if (!text_equal(slice->service, service->name))
            continue;
        for (size_t k = 0; k < slice->pod_count && json_object_size(pods) < PODS_MAX; k++)
            if (slice->pods[k].node)
                json_object_set_new(pods, slice->pods[k].address, json_string(slice->pods[k].node));
    }
    return pods;
}

json_t *drift_service_spec(const struct drift_cluster *cluster, const char *vip) {
    const struct drift_service *service = service_at(cluster, vip);
    json_t *ports;

    if (!service)
        return NULL;
    ports = json_array();
    for (size_t i = 0; i < service->port_count; i++) {
        _cleanup_(freep) char *text =
            xasprintf("%lld/%s", service->ports[i].number, service->ports[i].protocol);

        json_array_append_new(ports, json_string(text));
    }
    return json_pack("{s:o, s:s*, s:o}", "ports", ports, "internalTrafficPolicy",
                     *service->traffic ? service->traffic : NULL, "pods",
                     nodes_of_pods(cluster, service));
}

static bool any_has(const struct drift_cluster *cluster, const char *vip) {
    for (size_t i = 0; i < cluster->service_count; i++)
        if (text_equal(cluster->services[i].vip, vip) ||
            text_list_has(&cluster->services[i].others, vip))
            return true;
    return false;
}

int drift_ready_endpoints(const struct drift_cluster *cluster, const char *vip) {
    const struct drift_service *service = service_at(cluster, vip);
    int ready = 0;

    if (cluster && cluster->has_services && vip && *vip && !any_has(cluster, vip))
        return DRIFT_NO_SERVICE;
    if (!cluster || !service || !cluster->has_slices)
        return -1;
    for (size_t i = 0; i < cluster->slice_count; i++)
        if (text_equal(cluster->slices[i].service, service->name))
            ready += (int)cluster->slices[i].ready;
    return ready;
}
