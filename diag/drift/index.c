/* Services, what their EndpointSlices say and HNS' endpoints by their keys: each list is gone
 * through once, whatever is looked for in it. */
#include "diag/drift/kinds.h"

#include "kube/object.h"

void drift_put(struct text_table *set, const char *text) {
    if (text && *text)
        text_table_add(set, text, "");
}

bool drift_has(struct text_table *set, const char *text) {
    return text_table_get(set, text) != NULL;
}

void drift_put_owned(struct text_table *set, char *key) {
    drift_put(set, key);
    free(key);
}

static void add_service(const json_t *service, struct text_table *ports) {
    const char *vip = json_text_at(service, "spec.clusterIP");
    _cleanup_(freep) char *full = kube_full_name(service);

    if (!vip)
        return;
    text_table_add(ports, vip, full);
    json_each(json_at(service, "spec.ports"), i, port) {
        _cleanup_(freep) char *frontend =
            drift_frontend(vip, json_number_at(port, "port", 0), drift_port_protocol(port));
        _cleanup_(freep) char *name = xasprintf("%s %s", full, json_text_or(port, "name", ""));

        text_table_add(ports, frontend, name);
    }
}

static void add_slice(const json_t *slice, struct drift_index *ret) {
    const json_t *endpoints = json_object_get(slice, "endpoints");
    const char *name = drift_service_of(slice);
    _cleanup_(freep) char *full =
        xasprintf("%s/%s", json_text_or(slice, "metadata.namespace", ""), name ? name : "");
    bool ready = false;

    drift_put(&ret->slices, full);
    json_each(endpoints, i, endpoint) {
        ready |= json_bool_at(endpoint, "conditions.ready", true);
        json_each(json_object_get(endpoint, "addresses"), k, address)
            if (json_is_string(address))
                drift_put_owned(&ret->pods, xasprintf("%s %s", full, json_string_value(address)));
    }
    json_each(json_object_get(slice, "ports"), i, port) {
        _cleanup_(freep) char *key = xasprintf("%s %s", full, json_text_or(port, "name", ""));

        if (ready)
            drift_put(&ret->ready, key);
        if (!json_array_size(endpoints))
            continue;
        drift_put(&ret->numbers, key);
        drift_put_owned(&ret->numbers, xasprintf("%s %lld", key, json_number_at(port, "port", 0)));
    }
}

void drift_index_make(const struct drift_seen *seen, struct drift_index *ret) {
    *ret = (struct drift_index){0};
    json_each(json_object_get(seen->services, "items"), i, service)
        add_service(service, &ret->ports);
    json_each(json_object_get(seen->slices, "items"), i, slice)
        add_slice(slice, ret);
    json_each(seen->endpoints, i, endpoint) {
        _cleanup_(freep) char *lower = text_lower(json_text_or(endpoint, "ID", ""));

        text_table_add(&ret->addresses, lower,
                       json_text_or(endpoint, "IpConfigurations.0.IpAddress", ""));
    }
}

void drift_index_free(struct drift_index *index) {
    struct text_table *const all[] = {&index->ports, &index->slices,  &index->pods,
                                      &index->ready, &index->numbers, &index->addresses};

    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        text_table_free(all[i]);
}

const char *drift_port_at(struct drift_index *index, const char *vip, long long number,
                          const char *protocol) {
    _cleanup_(freep) char *frontend = drift_frontend(vip, number, protocol);
    const char *service = text_table_get(&index->ports, vip),
               *port = text_table_get(&index->ports, frontend);

    return service && port && text_starts_with(port, service) && port[strlen(service)] == ' '
               ? port
               : NULL;
}

const char *drift_address_of(struct drift_index *index, const char *id) {
    _cleanup_(freep) char *lower = text_lower(id ? id : "");

    return text_table_get(&index->addresses, lower);
}
