/* Compares the load balancers of HNS with the Services and their EndpointSlices. */
#include "diag/drift/kinds.h"

/* ---- tables for fast lookups of Services, their EndpointSlices and HNS endpoints ---- */

enum { PROTOCOL_UDP = 17 };

void drift_put(struct text_table *set, const char *text) {
    if (text && *text)
        text_table_add(set, text, "");
}

static void drift_put_owned(struct text_table *set, char *key) {
    drift_put(set, key);
    free(key);
}

/* Returns a frontend as text: "10.96.0.10:53/UDP", or ":30080/TCP" for a node port; free() it. */
static char *drift_frontend(const char *vip, long long port, const char *protocol) {
    return xasprintf("%s:%lld/%s", vip, port, protocol);
}

/* Returns the frontend of a load balancer's port at an address, or of a node port when it is "";
 * free() it. */
static char *drift_listens(const struct hcn_port_mapping *mapping, const char *vip) {
    return drift_frontend(vip, mapping->outside, mapping->protocol == PROTOCOL_UDP ? "UDP" : "TCP");
}

static void add_vip(const struct drift_service *service, const char *vip, struct drift_index *ret) {
    drift_put(&ret->used, vip);
    if (service->any_port)
        drift_put(&ret->wanted, vip);
    for (size_t i = 0; *vip && i < service->port_count; i++)
        drift_put_owned(&ret->wanted,
                        drift_frontend(vip, service->ports[i].number, service->ports[i].protocol));
}

const char *drift_address_of(struct drift_index *index, const char *id) {
    _cleanup_(freep) char *lower = text_lower(id ? id : "");

    return text_table_get(&index->addresses, lower);
}

void drift_index_make(const struct drift_observed *observed, struct drift_index *ret) {
    const struct drift_cluster none = {0}, *cluster = observed->cluster ? observed->cluster : &none;

    *ret = (struct drift_index){0};
    for (size_t i = 0; i < cluster->service_count; i++) {
        const struct drift_service *service = &cluster->services[i];

        add_vip(service, service->vip, ret);
        for (size_t k = 0; k < service->others.count; k++)
            if (!text_equal(service->others.items[k], service->vip))
                add_vip(service, service->others.items[k], ret);
        if (*service->vip)
            text_table_add(&ret->ports, service->vip, service->name);
        for (size_t k = 0; k < service->port_count; k++) {
            const struct drift_port *port = &service->ports[k];
            _cleanup_(freep) char *name = xasprintf("%s %s", service->name, port->name);
            _cleanup_(freep) char *frontend =
                drift_frontend(service->vip, port->number, port->protocol);

            if (port->node_port)
                drift_put_owned(&ret->wanted, drift_frontend("", port->node_port, port->protocol));
            if (*service->vip)
                text_table_add(&ret->ports, frontend, name);
        }
    }
    for (size_t i = 0; i < cluster->slice_count; i++) {
        const struct drift_slice *slice = &cluster->slices[i];

        drift_put(&ret->slices, slice->service);
        for (size_t k = 0; k < slice->pod_count; k++) {
            drift_put(&ret->used, slice->pods[k].address);
            drift_put_owned(&ret->pods, xasprintf("%s %s", slice->service, slice->pods[k].address));
        }
        for (size_t k = 0; k < slice->port_count; k++) {
            _cleanup_(freep) char *key = xasprintf("%s %s", slice->service, slice->ports[k].name);

            if (slice->ready)
                drift_put(&ret->ready, key);
            if (!slice->endpoints)
                continue;
            drift_put(&ret->numbers, key);
            drift_put_owned(&ret->numbers, xasprintf("%s %lld", key, slice->ports[k].number));
        }
    }
    for (size_t i = 0; observed->endpoints && i < observed->endpoints->count; i++) {
        const struct hcn_endpoint *endpoint = &observed->endpoints->items[i];
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

enum { SYNC_SECONDS = 60 };

static const char *vip_of(const struct hcn_balancer *balancer) {
    return balancer->vips.count ? balancer->vips.items[0] : NULL;
}

/* Returns the n-th frontend of a load balancer: each of its ports at each of its addresses, or at
 * the node (*ret_vip is "" then). NULL when it has no more; free() it. */
static char *frontend_of(const struct hcn_balancer *balancer, size_t n, const char **ret_vip) {
    size_t vips = balancer->vips.count;

    if (n >= balancer->mapping_count * (vips ? vips : 1))
        return NULL;
    *ret_vip = vips ? balancer->vips.items[n % vips] : "";
    return drift_listens(&balancer->mappings[vips ? n / vips : n], *ret_vip);
}

/* ---- Services without a load balancer ---- */

void drift_find_missing_balancers(const struct drift_observed *observed, struct drift_index *index,
                                  json_t *rows) {
    const struct drift_cluster *cluster = observed->cluster;
    _cleanup_(text_table_free) struct text_table frontends = {0};
    const char *vip;
    char *at;

    if (!cluster || !cluster->has_slices || !observed->balancers)
        return;
    for (size_t i = 0; i < observed->balancers->count; i++)
        for (size_t n = 0; (at = frontend_of(&observed->balancers->items[i], n, &vip)); n++)
            drift_put_owned(&frontends, at);
    for (size_t i = 0; i < cluster->service_count; i++) {
        const struct drift_service *service = &cluster->services[i];

        /* kube-proxy programs nothing for a headless Service, for one of another proxy, or for a
         * Service with traffic policy Local that has no endpoint on this node. */
        if (observed->now - service->created > SYNC_SECONDS && *service->vip &&
            !text_equal(service->vip, "None") && !service->other_proxy &&
            !text_equal(service->traffic, "Local"))
            for (size_t k = 0; k < service->port_count; k++) {
                const struct drift_port *port = &service->ports[k];
                _cleanup_(freep) char *key = xasprintf("%s %s", service->name, port->name);
                _cleanup_(freep) char *frontend =
                    drift_frontend(service->vip, port->number, port->protocol);

                /* kube-proxy on Windows does not support SCTP. */
                if (text_table_get(&index->ready, key) && !text_table_get(&frontends, frontend) &&
                    !text_equal(port->protocol, "SCTP"))
                    json_array_append_new(rows, json_pack("{s:s, s:s}", "service", service->name,
                                                          "frontend", frontend));
            }
    }
}

/* ---- load balancers without a Service ---- */

void drift_find_orphan_balancers(const struct drift_observed *observed, struct drift_index *index,
                                 json_t *rows) {
    if (!observed->cluster || !observed->cluster->has_services || !observed->cluster->has_slices)
        return;
    for (size_t i = 0; observed->balancers && i < observed->balancers->count; i++) {
        const struct hcn_balancer *balancer = &observed->balancers->items[i];
        bool is_wanted = true;
        const char *vip;
        char *frontend;

        /* Reports the first frontend of the load balancer that no Service wants. */
        for (size_t n = 0; is_wanted && (frontend = frontend_of(balancer, n, &vip)); n++) {
            is_wanted =
                text_table_get(&index->wanted, frontend) || text_table_get(&index->wanted, vip);
            if (!is_wanted)
                json_array_append_new(
                    rows, json_pack("{s:s*, s:s}", "id", balancer->id, "frontend", frontend));
            free(frontend);
        }
    }
}

/* ---- load balancers that send to wrong targets ---- */

void drift_find_empty_balancers(const struct drift_observed *observed, struct drift_index *index,
                                json_t *rows) {
    if (!observed->endpoints)
        return;
    for (size_t i = 0; observed->balancers && i < observed->balancers->count; i++) {
        const struct hcn_balancer *balancer = &observed->balancers->items[i];
        bool any = !balancer->names_endpoints;

        for (size_t k = 0; !any && k < balancer->endpoints.count; k++) {
            const char *address = drift_address_of(index, balancer->endpoints.items[k]);

            any = address && *address;
        }
        if (!any)
            json_array_append_new(
                rows, json_pack("{s:s*, s:s*}", "id", balancer->id, "frontend", vip_of(balancer)));
    }
}

/* Returns the Service's port at the load balancer's address, such as "ns/name dns". If several
 * Services have that cluster IP, the first one counts. NULL when no Service has that port. */
static const char *port_of(struct drift_index *index, const struct hcn_balancer *balancer,
                           const struct hcn_port_mapping *mapping) {
    const char *vip = vip_of(balancer);
    _cleanup_(freep) char *frontend = vip ? drift_listens(mapping, vip) : NULL;
    const char *service = text_table_get(&index->ports, vip),
               *port = text_table_get(&index->ports, frontend);

    return service && port && text_starts_with(port, service) && port[strlen(service)] == ' '
               ? port
               : NULL;
}

void drift_find_other_pods(const struct drift_observed *observed, struct drift_index *index,
                           json_t *rows) {
    for (size_t i = 0; observed->balancers && i < observed->balancers->count; i++) {
        const struct hcn_balancer *balancer = &observed->balancers->items[i];
        /* The Service that the load balancer is for, as "ns/name". */
        _cleanup_(freep) char *service = NULL;

        for (size_t k = 0; !service && k < balancer->mapping_count; k++) {
            const char *port = port_of(index, balancer, &balancer->mappings[k]);

            if (port)
                service = xstrndup(port, strcspn(port, " "));
        }
        /* The pods of a Service without any EndpointSlice are not known. */
        if (!service || !text_table_get(&index->slices, service))
            continue;
        for (size_t k = 0; k < balancer->endpoints.count; k++) {
            const char *address = drift_address_of(index, balancer->endpoints.items[k]);
            _cleanup_(freep) char *pod = xasprintf("%s %s", service, address ? address : "");

            if (address && *address && !text_table_get(&index->pods, pod))
                json_array_append_new(rows,
                                      json_pack("{s:s*, s:s*, s:s}", "id", balancer->id, "frontend",
                                                vip_of(balancer), "address", address));
        }
    }
}

void drift_find_other_ports(const struct drift_observed *observed, struct drift_index *index,
                            json_t *rows) {
    for (size_t i = 0; observed->balancers && i < observed->balancers->count; i++) {
        const struct hcn_balancer *balancer = &observed->balancers->items[i];

        for (size_t k = 0; k < balancer->mapping_count; k++) {
            const struct hcn_port_mapping *mapping = &balancer->mappings[k];
            const char *port = mapping->inside ? port_of(index, balancer, mapping) : NULL;
            _cleanup_(freep) char *key =
                xasprintf("%s %lld", port ? port : "", (long long)mapping->inside);

            /* If no EndpointSlice has this port at all, the right number is not known. */
            if (port && text_table_get(&index->numbers, port) &&
                !text_table_get(&index->numbers, key))
                json_array_append_new(rows, json_pack("{s:s*, s:s, s:I}", "id", balancer->id,
                                                      "frontend", vip_of(balancer), "port",
                                                      (json_int_t)mapping->inside));
        }
    }
}
