/* Services, what their EndpointSlices say and HNS' endpoints by their keys: each list is gone
 * through once, whatever is looked for in it. */
#include "diag/drift/kinds.h"

#include "kube/object.h"

enum { REMOTE = 1, PROTOCOL_UDP = 17 };

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

static void add_port(const json_t *service, const json_t *port, const struct text_list *vips,
                     struct drift_index *ret) {
    const char *vip = json_text_at(service, "spec.clusterIP"),
               *protocol = drift_port_protocol(port);
    long long number = json_number_at(port, "port", 0);

    drift_put_owned(&ret->wanted,
                    drift_frontend("", json_number_at(port, "nodePort", 0), protocol));
    for (size_t i = 0; i < vips->count; i++)
        drift_put_owned(&ret->wanted, drift_frontend(vips->items[i], number, protocol));
    if (vip) {
        _cleanup_(freep) char *frontend = drift_frontend(vip, number, protocol),
                              *full = kube_full_name(service),
                              *name = xasprintf("%s %s", full, json_text_or(port, "name", ""));

        text_table_add(&ret->ports, frontend, name);
    }
}

static void add_service(const json_t *service, struct drift_index *ret) {
    bool any_port = text_equal(json_text_at(service, "spec.type"), "LoadBalancer");
    _cleanup_(text_list_free) struct text_list vips = {0};
    _cleanup_(freep) char *full = kube_full_name(service);

    drift_add_vips(service, &vips);
    for (size_t i = 0; i < vips.count; i++) {
        drift_put(&ret->used, vips.items[i]);
        if (any_port)
            drift_put(&ret->wanted, vips.items[i]);
    }
    text_table_add(&ret->ports, json_text_or(service, "spec.clusterIP", ""), full);
    json_each(json_at(service, "spec.ports"), i, port)
        add_port(service, port, &vips, ret);
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
            if (json_is_string(address)) {
                drift_put(&ret->used, json_string_value(address));
                drift_put_owned(&ret->pods, xasprintf("%s %s", full, json_string_value(address)));
            }
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

static void add_endpoint(const json_t *json, struct drift_index *ret) {
    const struct drift_endpoint endpoint = {.id = json_text_at(json, "ID"),
                                            .name = json_text_at(json, "Name"),
                                            .address =
                                                json_text_at(json, "IpConfigurations.0.IpAddress"),
                                            .remote = json_number_at(json, "Flags", 0) & REMOTE};
    _cleanup_(freep) char *lower = text_lower(endpoint.id ? endpoint.id : "");

    text_table_add(&ret->addresses, lower, endpoint.address ? endpoint.address : "");
    array_add(ret->endpoints, ret->endpoint_count, endpoint);
}

const char *drift_address_of(struct drift_index *index, const char *id) {
    _cleanup_(freep) char *lower = text_lower(id ? id : "");

    return text_table_get(&index->addresses, lower);
}

/* The port of the first Service that has that cluster IP. */
static const char *port_at(struct drift_index *index, const char *vip, const char *frontend) {
    const char *service = text_table_get(&index->ports, vip),
               *port = text_table_get(&index->ports, frontend);

    return service && port && text_starts_with(port, service) && port[strlen(service)] == ' '
               ? port
               : NULL;
}

static void add_mapping(const json_t *mapping, const json_t *vips, const char *vip,
                        struct drift_index *ret) {
    const char *protocol = json_number_at(mapping, "Protocol", 0) == PROTOCOL_UDP ? "UDP" : "TCP";
    long long number = json_number_at(mapping, "ExternalPort", 0);
    _cleanup_(freep) char *first = drift_frontend(vip, number, protocol);

    array_add(ret->mappings, ret->mapping_count,
              (struct drift_mapping){.port = port_at(ret, vip, first),
                                     .inside = json_number_at(mapping, "InternalPort", 0)});
    json_each(vips, i, item)
        if (json_is_string(item))
            text_list_add_owned(&ret->frontends,
                                drift_frontend(json_string_value(item), number, protocol));
    if (!json_array_size(vips))
        text_list_add_owned(&ret->frontends, take_ptr(first));
}

static void add_balancer(const json_t *json, struct drift_index *ret) {
    const json_t *ids = json_object_get(json, "HostComputeEndpoints"),
                 *vips = json_object_get(json, "FrontendVIPs");
    struct drift_balancer balancer = {.id = json_text_at(json, "ID"),
                                      .vip = json_string_value(json_array_get(vips, 0)),
                                      .names_endpoints = ids,
                                      .address = ret->balanced_count,
                                      .frontend = ret->frontends.count,
                                      .mapping = ret->mapping_count};

    json_each(ids, i, id) {
        const char *address = drift_address_of(ret, json_string_value(id));

        if (address)
            array_add(ret->balanced, ret->balanced_count, address);
    }
    json_each(json_object_get(json, "PortMappings"), k, mapping)
        add_mapping(mapping, vips, balancer.vip, ret);
    balancer.address_end = ret->balanced_count;
    balancer.frontend_end = ret->frontends.count;
    balancer.mapping_end = ret->mapping_count;
    array_add(ret->balancers, ret->balancer_count, balancer);
}

void drift_index_make(const struct drift_seen *seen, struct drift_index *ret) {
    *ret = (struct drift_index){0};
    json_each(json_object_get(seen->services, "items"), i, service)
        add_service(service, ret);
    json_each(json_object_get(seen->slices, "items"), i, slice)
        add_slice(slice, ret);
    json_each(seen->endpoints, i, endpoint)
        add_endpoint(endpoint, ret);
    json_each(seen->balancers, i, balancer)
        add_balancer(balancer, ret);
}

void drift_index_free(struct drift_index *index) {
    struct text_table *const all[] = {&index->ports, &index->slices,   &index->pods,
                                      &index->ready, &index->numbers,  &index->wanted,
                                      &index->used,  &index->addresses};

    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        text_table_free(all[i]);
    text_list_free(&index->frontends);
    free_all(index->endpoints, index->balancers, index->mappings, (void *)index->balanced);
}
