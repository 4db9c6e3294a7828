/* HNS' load balancers against the Services and their EndpointSlices. */
#include "diag/drift/kinds.h"

#include "base/rfc3339.h"
#include "kube/object.h"

enum { SYNC_SECONDS = 60, PROTOCOL_UDP = 17 };

static const char *mapping_protocol(const json_t *mapping) {
    return json_number_at(mapping, "Protocol", 0) == PROTOCOL_UDP ? "UDP" : "TCP";
}

char *drift_frontend(const char *vip, long long port, const char *protocol) {
    return xasprintf("%s:%lld/%s", vip ? vip : "", port, protocol);
}

/* "10.96.0.10:53/UDP" of each mapping, ":30080/TCP" of one at a node port. */
static void add_frontends(const json_t *balancer, struct text_list *ret) {
    const json_t *vips = json_object_get(balancer, "FrontendVIPs");

    json_each(json_object_get(balancer, "PortMappings"), i, mapping) {
        long long port = json_number_at(mapping, "ExternalPort", 0);
        const char *protocol = mapping_protocol(mapping);

        json_each(vips, k, vip)
            if (json_is_string(vip))
                text_list_add_owned(ret, drift_frontend(json_string_value(vip), port, protocol));
        if (!json_array_size(vips))
            text_list_add_owned(ret, drift_frontend("", port, protocol));
    }
}

static void add_row(json_t *rows, const json_t *balancer, const char *frontend) {
    json_array_append_new(
        rows, json_pack("{s:s*, s:s*}", "id", json_text_at(balancer, "ID"), "frontend", frontend));
}

static const char *vip_of(const json_t *balancer) {
    return json_text_at(balancer, "FrontendVIPs.0");
}

/* ---- Services without a load balancer ---- */

static bool is_old(const json_t *service, int64_t now) {
    return now - rfc3339_seconds(json_text_at(service, "metadata.creationTimestamp")) >
           SYNC_SECONDS;
}

/* Of a headless one and one of another proxy there is nothing to program; nor where no endpoint is
 * on this node and others do not count. */
static bool is_proxied(const json_t *service) {
    const char *vip = json_text_at(service, "spec.clusterIP");
    const json_t *labels = json_at(service, "metadata.labels");

    return vip && *vip && !text_equal(vip, "None") &&
           !json_object_get(labels, "service.kubernetes.io/service-proxy-name") &&
           !text_equal(json_text_at(service, "spec.internalTrafficPolicy"), "Local");
}

static void find_missing(const json_t *service, struct drift_index *index,
                         struct text_table *frontends, json_t *rows) {
    _cleanup_(freep) char *full = kube_full_name(service);

    json_each(json_at(service, "spec.ports"), i, port) {
        _cleanup_(freep) char *key = xasprintf("%s %s", full, json_text_or(port, "name", ""));
        _cleanup_(freep) char *frontend =
            drift_frontend(json_text_at(service, "spec.clusterIP"), json_number_at(port, "port", 0),
                           drift_port_protocol(port));

        if (drift_has(&index->ready, key) && !drift_has(frontends, frontend) &&
            !text_equal(drift_port_protocol(port),
                        "SCTP")) /* kube-proxy on Windows leaves it out */
            json_array_append_new(rows,
                                  json_pack("{s:s, s:s}", "service", full, "frontend", frontend));
    }
}

void drift_find_missing_balancers(const struct drift_seen *seen, struct drift_index *index,
                                  json_t *rows) {
    _cleanup_(text_table_free) struct text_table frontends = {0};

    if (!seen->slices || !seen->balancers)
        return;
    json_each(seen->balancers, i, balancer) {
        _cleanup_(text_list_free) struct text_list list = {0};

        add_frontends(balancer, &list);
        for (size_t k = 0; k < list.count; k++)
            drift_put(&frontends, list.items[k]);
    }
    json_each(json_object_get(seen->services, "items"), i, service)
        if (is_old(service, seen->now) && is_proxied(service))
            find_missing(service, index, &frontends, rows);
}

/* ---- load balancers without a Service ---- */

/* What load balancers may be for. The health check port of an address of type LoadBalancer is not
 * among a Service's ports: its address alone counts. */
static void add_wanted(const json_t *service, struct text_table *wanted) {
    bool any_port = text_equal(json_text_at(service, "spec.type"), "LoadBalancer");
    _cleanup_(text_list_free) struct text_list vips = {0};

    drift_add_vips(service, &vips);
    for (size_t i = 0; any_port && i < vips.count; i++)
        drift_put(wanted, vips.items[i]);
    json_each(json_at(service, "spec.ports"), i, port) {
        const char *protocol = drift_port_protocol(port);

        drift_put_owned(wanted, drift_frontend("", json_number_at(port, "nodePort", 0), protocol));
        for (size_t k = 0; k < vips.count; k++)
            drift_put_owned(
                wanted, drift_frontend(vips.items[k], json_number_at(port, "port", 0), protocol));
    }
}

void drift_find_orphan_balancers(const struct drift_seen *seen, struct drift_index *,
                                 json_t *rows) {
    _cleanup_(text_table_free) struct text_table wanted = {0};

    if (!seen->services || !seen->slices)
        return;
    json_each(json_object_get(seen->services, "items"), i, service)
        add_wanted(service, &wanted);
    json_each(seen->balancers, i, balancer) {
        _cleanup_(text_list_free) struct text_list list = {0};

        add_frontends(balancer, &list);
        for (size_t k = 0; k < list.count; k++) {
            _cleanup_(freep) char *vip = xstrndup(list.items[k], strcspn(list.items[k], ":"));

            if (drift_has(&wanted, list.items[k]) || drift_has(&wanted, vip))
                continue;
            add_row(rows, balancer, list.items[k]);
            break;
        }
    }
}

/* ---- load balancers that send elsewhere ---- */

void drift_find_empty_balancers(const struct drift_seen *seen, struct drift_index *index,
                                json_t *rows) {
    if (!seen->endpoints)
        return;
    json_each(seen->balancers, i, balancer) {
        const json_t *ids = json_object_get(balancer, "HostComputeEndpoints");
        bool any = !ids;

        json_each(ids, k, id) {
            const char *address = drift_address_of(index, json_string_value(id));

            any |= address && *address;
        }
        if (!any)
            add_row(rows, balancer, vip_of(balancer));
    }
}

/* "ns/name dns": the port of a Service that the mapping is for; NULL: of none. */
static const char *port_of(struct drift_index *index, const json_t *balancer,
                           const json_t *mapping) {
    return drift_port_at(index, vip_of(balancer), json_number_at(mapping, "ExternalPort", 0),
                         mapping_protocol(mapping));
}

/* "ns/name": the Service that the load balancer is for; the caller frees. NULL: none. */
static char *service_of(struct drift_index *index, const json_t *balancer) {
    json_each(json_object_get(balancer, "PortMappings"), i, mapping) {
        const char *port = port_of(index, balancer, mapping);

        if (port)
            return xstrndup(port, strcspn(port, " "));
    }
    return NULL;
}

/* Does an EndpointSlice of the Service have that address? True also where it has no slice. */
static bool slices_hold(struct drift_index *index, const char *service, const char *address) {
    _cleanup_(freep) char *pod = xasprintf("%s %s", service, address);

    return drift_has(&index->pods, pod) || !drift_has(&index->slices, service);
}

void drift_find_other_pods(const struct drift_seen *seen, struct drift_index *index, json_t *rows) {
    json_each(seen->balancers, i, balancer) {
        _cleanup_(freep) char *service = service_of(index, balancer);

        if (!service)
            continue;
        json_each(json_object_get(balancer, "HostComputeEndpoints"), k, id) {
            const char *address = drift_address_of(index, json_string_value(id));

            if (!address || !*address || slices_hold(index, service, address))
                continue;
            json_array_append_new(rows,
                                  json_pack("{s:s*, s:s*, s:s}", "id", json_text_at(balancer, "ID"),
                                            "frontend", vip_of(balancer), "address", address));
        }
    }
}

/* Does an EndpointSlice have that number for the Service's port? True also where no slice has the
 * port at all. */
static bool slices_have(struct drift_index *index, const char *port, long long number) {
    _cleanup_(freep) char *key = xasprintf("%s %lld", port, number);

    return drift_has(&index->numbers, key) || !drift_has(&index->numbers, port);
}

void drift_find_other_ports(const struct drift_seen *seen, struct drift_index *index,
                            json_t *rows) {
    json_each(seen->balancers, i, balancer)
        json_each(json_object_get(balancer, "PortMappings"), k, mapping) {
            const char *port = port_of(index, balancer, mapping);
            long long inside = json_number_at(mapping, "InternalPort", 0);

            if (port && inside && !slices_have(index, port, inside))
                json_array_append_new(
                    rows, json_pack("{s:s*, s:s, s:I}", "id", json_text_at(balancer, "ID"),
                                    "frontend", vip_of(balancer), "port", (json_int_t)inside));
        }
}
