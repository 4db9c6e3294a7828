/* HNS' endpoints and namespaces against the pods of this node and the endpoints of Services. */
#include "diag/drift/kinds.h"

#include "base/rfc3339.h"
#include "kube/object.h"

enum { START_SECONDS = 60, REMOTE = 1, PROBES = 2 };

static const char *address_of(const json_t *endpoint) {
    return json_text_at(endpoint, "IpConfigurations.0.IpAddress");
}

static bool is_remote(const json_t *endpoint) {
    return json_number_at(endpoint, "Flags", 0) & REMOTE;
}

/* ---- remote endpoints ---- */

static void add_vips(const json_t *service, struct text_table *set) {
    _cleanup_(text_list_free) struct text_list vips = {0};

    drift_add_vips(service, &vips);
    for (size_t i = 0; i < vips.count; i++)
        drift_put(set, vips.items[i]);
}

/* kube-proxy makes one for each endpoint elsewhere and, on overlay, for each cluster IP. */
static void add_addresses_of_services(const struct drift_seen *seen, struct text_table *set) {
    json_each(json_object_get(seen->services, "items"), i, service)
        add_vips(service, set);
    json_each(json_object_get(seen->slices, "items"), i, slice)
        json_each(json_object_get(slice, "endpoints"), k, endpoint)
            json_each(json_object_get(endpoint, "addresses"), n, address)
                drift_put(set, json_string_value(address));
}

void drift_find_stale_endpoints(const struct drift_seen *seen, struct drift_index *, json_t *rows) {
    _cleanup_(text_table_free) struct text_table used = {0};

    if (!seen->services || !seen->slices)
        return;
    add_addresses_of_services(seen, &used);
    json_each(seen->endpoints, i, item) {
        const char *address = address_of(item);

        if (is_remote(item) && address && !drift_has(&used, address))
            json_array_append_new(
                rows, json_pack("{s:s*, s:s}", "id", json_text_at(item, "ID"), "address", address));
    }
}

/* ---- endpoints of this node's pods ---- */

/* "<container id>_<network>", as the CNI plugins call what they make; not the host's own "_ep". */
static bool is_of_pod(const json_t *endpoint, const char *network) {
    const char *name = json_text_at(endpoint, "Name");
    size_t len = name ? strlen(name) : 0, tail = strlen(network);

    return !is_remote(endpoint) && len > tail + 1 && name[len - tail - 1] == '_' &&
           text_equal(name + len - tail, network);
}

static void add_pod_addresses(const struct drift_seen *seen, struct text_table *set) {
    json_each(json_object_get(seen->pods, "items"), i, item) {
        drift_put(set, json_text_at(item, "status.podIP"));
        json_each(json_at(item, "status.podIPs"), k, address)
            drift_put(set, json_text_at(address, "ip"));
    }
    for (size_t i = 0; seen->probes && i < seen->probes->count; i++)
        drift_put(set, seen->probes->items[i]);
}

void drift_find_podless_endpoints(const struct drift_seen *seen, struct drift_index *,
                                  json_t *rows) {
    _cleanup_(text_table_free) struct text_table pods = {0};

    if (!seen->pods || !seen->network)
        return;
    add_pod_addresses(seen, &pods);
    json_each(seen->endpoints, i, item) {
        const char *address = address_of(item);

        if (is_of_pod(item, seen->network) && address && !drift_has(&pods, address))
            json_array_append_new(rows, json_pack("{s:s*, s:s*, s:s}", "id",
                                                  json_text_at(item, "ID"), "name",
                                                  json_text_at(item, "Name"), "address", address));
    }
}

/* A pod with a network of its own, which has run for long enough. */
static bool needs_endpoint(const json_t *pod, int64_t now) {
    int64_t since = rfc3339_seconds(json_text_at(pod, "status.startTime"));

    return text_equal(json_text_at(pod, "status.phase"), "Running") &&
           !json_bool_at(pod, "spec.hostNetwork", false) && since && now - since > START_SECONDS;
}

void drift_find_missing_endpoints(const struct drift_seen *seen, struct drift_index *,
                                  json_t *rows) {
    _cleanup_(text_table_free) struct text_table addresses = {0};

    if (!seen->endpoints)
        return;
    json_each(seen->endpoints, i, item)
        if (!is_remote(item))
            drift_put(&addresses, address_of(item));
    json_each(json_object_get(seen->pods, "items"), i, item) {
        const char *ip = json_text_at(item, "status.podIP");
        _cleanup_(freep) char *pod = kube_full_name(item);

        if (ip && *ip && needs_endpoint(item, seen->now) && !drift_has(&addresses, ip))
            json_array_append_new(rows, json_pack("{s:s, s:s}", "pod", pod, "address", ip));
    }
}

/* ---- namespaces ---- */

static bool is_probe(const json_t *pod) {
    return text_starts_with(json_text_or(pod, "metadata.name", ""), "winjoin-probe-");
}

/* While a pod starts, its namespace has no endpoint, or one whose address nobody knows yet; those
 * of the probes are known. */
static bool any_starts(const struct drift_seen *seen) {
    json_each(json_object_get(seen->pods, "items"), i, pod) {
        const char *phase = json_text_at(pod, "status.phase");

        if (seen->probes && seen->probes->count == PROBES && is_probe(pod))
            continue;
        if (!json_bool_at(pod, "spec.hostNetwork", false) &&
            !*json_text_or(pod, "status.podIP", "") && !text_equal(phase, "Succeeded") &&
            !text_equal(phase, "Failed"))
            return true;
    }
    return false;
}

/* Does a pod have one of the namespace's endpoints, or something else than a pod's network be in
 * it? `*ret_address`: of an endpoint that no pod has. */
static bool is_used(const json_t *space, struct drift_index *index, struct text_table *pods,
                    const char **ret_address) {
    json_each(json_object_get(space, "Resources"), i, resource) {
        const char *address;

        if (!text_equal(json_text_at(resource, "Type"), "Endpoint"))
            return true;
        address = drift_address_of(index, json_text_at(resource, "Data.Id"));
        if (address && (!*address || drift_has(pods, address)))
            return true;
        *ret_address = address;
    }
    return false;
}

void drift_find_podless_namespaces(const struct drift_seen *seen, struct drift_index *index,
                                   json_t *rows) {
    _cleanup_(text_table_free) struct text_table pods = {0};

    if (!seen->pods || !seen->endpoints || any_starts(seen))
        return;
    add_pod_addresses(seen, &pods);
    json_each(seen->namespaces, i, space) {
        const char *id = json_text_at(space, "ID"), *address = NULL;

        if (id && !text_equal(json_text_at(space, "Type"), "HostDefault") &&
            !is_used(space, index, &pods, &address))
            json_array_append_new(rows, json_pack("{s:s, s:s*}", "id", id, "address", address));
    }
}
