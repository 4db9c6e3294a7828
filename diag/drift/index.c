/* Services, what their EndpointSlices say and HNS' endpoints by their keys: each list is gone
 * through once, whatever is looked for in it. */
#include "diag/drift/kinds.h"

enum { PROTOCOL_UDP = 17 };

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

char *drift_frontend(const char *vip, long long port, const char *protocol) {
    return xasprintf("%s:%lld/%s", vip, port, protocol);
}

char *drift_listens(const struct hcn_port_mapping *mapping, const char *vip) {
    return drift_frontend(vip, mapping->outside, mapping->protocol == PROTOCOL_UDP ? "UDP" : "TCP");
}

char *drift_port_key(const char *service, const struct drift_port *port) {
    return xasprintf("%s %s", service, port->name);
}

static void add_vip(const struct drift_service *service, const char *vip, struct drift_index *ret) {
    drift_put(&ret->used, vip);
    if (service->any_port)
        drift_put(&ret->wanted, vip);
    for (size_t i = 0; *vip && i < service->port_count; i++)
        drift_put_owned(&ret->wanted,
                        drift_frontend(vip, service->ports[i].number, service->ports[i].protocol));
}

static void add_slice(const struct drift_slice *slice, struct drift_index *ret) {
    drift_put(&ret->slices, slice->service);
    for (size_t i = 0; i < slice->pod_count; i++) {
        drift_put(&ret->used, slice->pods[i].address);
        drift_put_owned(&ret->pods, xasprintf("%s %s", slice->service, slice->pods[i].address));
    }
    for (size_t i = 0; i < slice->port_count; i++) {
        _cleanup_(freep) char *key = drift_port_key(slice->service, &slice->ports[i]);

        if (slice->ready)
            drift_put(&ret->ready, key);
        if (!slice->endpoints)
            continue;
        drift_put(&ret->numbers, key);
        drift_put_owned(&ret->numbers, xasprintf("%s %lld", key, slice->ports[i].number));
    }
}

const char *drift_address_of(struct drift_index *index, const char *id) {
    _cleanup_(freep) char *lower = text_lower(id ? id : "");

    return text_table_get(&index->addresses, lower);
}

void drift_index_make(const struct drift_seen *seen, struct drift_index *ret) {
    const struct drift_cluster none = {0}, *cluster = seen->cluster ? seen->cluster : &none;

    *ret = (struct drift_index){0};
    for (size_t i = 0; i < cluster->service_count; i++) {
        add_vip(&cluster->services[i], cluster->services[i].vip, ret);
        for (size_t k = 0; k < cluster->services[i].others.count; k++)
            if (!text_equal(cluster->services[i].others.items[k], cluster->services[i].vip))
                add_vip(&cluster->services[i], cluster->services[i].others.items[k], ret);
        if (*cluster->services[i].vip)
            text_table_add(&ret->ports, cluster->services[i].vip, cluster->services[i].name);
        for (size_t k = 0; k < cluster->services[i].port_count; k++) {
            const struct drift_port *port = &cluster->services[i].ports[k];
            _cleanup_(freep) char *name = drift_port_key(cluster->services[i].name, port);
            _cleanup_(freep) char *frontend =
                drift_frontend(cluster->services[i].vip, port->number, port->protocol);

            if (port->node_port)
                drift_put_owned(&ret->wanted, drift_frontend("", port->node_port, port->protocol));
            if (*cluster->services[i].vip)
                text_table_add(&ret->ports, frontend, name);
        }
    }
    for (size_t i = 0; i < cluster->slice_count; i++)
        add_slice(&cluster->slices[i], ret);
    for (size_t i = 0; seen->endpoints && i < seen->endpoints->count; i++) {
        const struct hcn_endpoint *endpoint = &seen->endpoints->items[i];
        _cleanup_(freep) char *lower = text_lower(endpoint->id ? endpoint->id : "");

        text_table_add(&ret->addresses, lower, endpoint->address ? endpoint->address : "");
    }
}

void drift_index_free(struct drift_index *index) {
    struct text_table *const all[] = {&index->ports, &index->slices,   &index->pods,
                                      &index->ready, &index->numbers,  &index->wanted,
                                      &index->used,  &index->addresses};

    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        text_table_free(all[i]);
}
