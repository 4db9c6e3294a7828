/* Compares HNS endpoints and namespaces with this node's pods and the endpoints of Services. */
#include "base/rfc3339.h"
#include "diag/drift/kinds.h"
#include "kube/object.h"

/* ---- facts about one Service in Kubernetes ---- */

static const struct drift_service *service_at(const struct drift_cluster *cluster,
                                              const char *vip) {
    for (size_t i = 0; vip && *vip && cluster && i < cluster->service_count; i++)
        if (text_equal(cluster->services[i].vip, vip))
            return &cluster->services[i];
    return NULL;
}

json_t *drift_service_spec(const struct drift_cluster *cluster, const char *vip) {
    enum { PODS_MAX = 100 };
    const struct drift_service *service = service_at(cluster, vip);
    json_t *ports, *pods;

    if (!service)
        return NULL;
    ports = json_array();
    for (size_t i = 0; i < service->port_count; i++) {
        _cleanup_(freep) char *text =
            xasprintf("%lld/%s", service->ports[i].number, service->ports[i].protocol);

        json_array_append_new(ports, json_string(text));
    }
    pods = json_object(); /* The node of each pod, as the EndpointSlices name it. */
    for (size_t i = 0; i < cluster->slice_count; i++) {
        const struct drift_slice *slice = &cluster->slices[i];

        if (!text_equal(slice->service, service->name))
            continue;
        for (size_t k = 0; k < slice->pod_count && json_object_size(pods) < PODS_MAX; k++)
            if (slice->pods[k].node)
                json_object_set_new(pods, slice->pods[k].address, json_string(slice->pods[k].node));
    }
    return json_pack("{s:o, s:s*, s:o}", "ports", ports, "internalTrafficPolicy",
                     *service->traffic ? service->traffic : NULL, "pods", pods);
}

int drift_ready_endpoints(const struct drift_cluster *cluster, const char *vip) {
    const struct drift_service *service = service_at(cluster, vip);
    bool any = false;
    int ready = 0;

    for (size_t i = 0; cluster && i < cluster->service_count; i++)
        any |= text_equal(cluster->services[i].vip, vip) ||
               text_list_has(&cluster->services[i].others, vip);
    if (cluster && cluster->has_services && vip && *vip && !any)
        return DRIFT_NO_SERVICE;
    if (!cluster || !service || !cluster->has_slices)
        return -1;
    for (size_t i = 0; i < cluster->slice_count; i++)
        if (text_equal(cluster->slices[i].service, service->name))
            ready += (int)cluster->slices[i].ready;
    return ready;
}

enum { START_SECONDS = 60, PROBES = 2 };

/* ---- remote endpoints ---- */

void drift_find_stale_endpoints(const struct drift_observed *observed, struct drift_index *index,
                                json_t *rows) {
    if (!observed->cluster || !observed->cluster->has_services || !observed->cluster->has_slices)
        return;
    for (size_t i = 0; observed->endpoints && i < observed->endpoints->count; i++) {
        const struct hcn_endpoint *item = &observed->endpoints->items[i];

        if (item->remote && item->address && !text_table_get(&index->used, item->address))
            json_array_append_new(
                rows, json_pack("{s:s*, s:s}", "id", item->id, "address", item->address));
    }
}

/* ---- endpoints of this node's pods ---- */

/* Returns the List of this node's pods; NULL when they were not read. */
static const json_t *pods_of(const struct drift_observed *observed) {
    return observed->cluster ? observed->cluster->pods : NULL;
}

static void add_pod_addresses(const struct drift_observed *observed, struct text_table *set) {
    json_each(json_object_get(pods_of(observed), "items"), i, item) {
        drift_put(set, json_text_at(item, "status.podIP"));
        json_each(json_at(item, "status.podIPs"), k, address)
            drift_put(set, json_text_at(address, "ip"));
    }
    for (size_t i = 0; observed->probes && i < observed->probes->count; i++)
        drift_put(set, observed->probes->items[i]);
}

void drift_find_podless_endpoints(const struct drift_observed *observed, struct drift_index *,
                                  json_t *rows) {
    _cleanup_(text_table_free) struct text_table pods = {0};

    if (!pods_of(observed) || !observed->network)
        return;
    add_pod_addresses(observed, &pods);
    for (size_t i = 0; observed->endpoints && i < observed->endpoints->count; i++) {
        const struct hcn_endpoint *item = &observed->endpoints->items[i];
        const char *name = item->name;
        size_t len = name ? strlen(name) : 0, tail = strlen(observed->network);

        /* CNI plugins name their endpoints "<container id>_<network>"; the host's own endpoint is
         * named "..._ep". */
        if (!item->remote && len > tail + 1 && name[len - tail - 1] == '_' &&
            text_equal(name + len - tail, observed->network) && item->address &&
            !text_table_get(&pods, item->address))
            json_array_append_new(rows, json_pack("{s:s*, s:s*, s:s}", "id", item->id, "name",
                                                  item->name, "address", item->address));
    }
}

void drift_find_missing_endpoints(const struct drift_observed *observed, struct drift_index *,
                                  json_t *rows) {
    _cleanup_(text_table_free) struct text_table addresses = {0};

    if (!observed->endpoints)
        return;
    for (size_t i = 0; i < observed->endpoints->count; i++)
        if (!observed->endpoints->items[i].remote)
            drift_put(&addresses, observed->endpoints->items[i].address);
    json_each(json_object_get(pods_of(observed), "items"), i, item) {
        const char *ip = json_text_at(item, "status.podIP");
        _cleanup_(freep) char *pod = kube_full_name(item);
        int64_t since = rfc3339_seconds(json_text_at(item, "status.startTime"));

        /* Only pods with a network of their own count, once they have run for long enough. */
        if (ip && *ip && text_equal(json_text_at(item, "status.phase"), "Running") &&
            !json_bool_at(item, "spec.hostNetwork", false) && since &&
            observed->now - since > START_SECONDS && !text_table_get(&addresses, ip))
            json_array_append_new(rows, json_pack("{s:s, s:s}", "pod", pod, "address", ip));
    }
}

/* ---- namespaces of HNS ---- */

void drift_find_podless_namespaces(const struct drift_observed *observed, struct drift_index *index,
                                   json_t *rows) {
    _cleanup_(text_table_free) struct text_table pods = {0};

    if (!pods_of(observed) || !observed->endpoints)
        return;
    /* While a pod starts, its namespace has no endpoint, or one whose address the API does not know
     * yet, so nothing is judged then. The addresses of both probes are known already. */
    json_each(json_object_get(pods_of(observed), "items"), i, pod) {
        const char *phase = json_text_at(pod, "status.phase");

        if (observed->probes && observed->probes->count == PROBES &&
            text_starts_with(json_text_or(pod, "metadata.name", ""), "winjoin-probe-"))
            continue;
        if (!json_bool_at(pod, "spec.hostNetwork", false) &&
            !*json_text_or(pod, "status.podIP", "") && !text_equal(phase, "Succeeded") &&
            !text_equal(phase, "Failed"))
            return;
    }
    add_pod_addresses(observed, &pods);
    json_each(observed->namespaces, i, space) {
        const char *id = json_text_at(space, "ID"), *address = NULL;
        bool is_used = text_equal(json_text_at(space, "Type"), "HostDefault");

        /* A namespace is used when a pod has the address of one of its endpoints, or when anything
         * except endpoints is in it. */
        json_each(json_object_get(space, "Resources"), k, resource) {
            address = drift_address_of(index, json_text_at(resource, "Data.Id"));
            is_used |= !text_equal(json_text_at(resource, "Type"), "Endpoint") ||
                       (address && (!*address || text_table_get(&pods, address)));
        }
        if (id && !is_used)
            json_array_append_new(rows, json_pack("{s:s, s:s*}", "id", id, "address", address));
    }
}
