/* HNS' load balancers against the Services and their EndpointSlices. */
#include "diag/drift/kinds.h"

#include "base/rfc3339.h"
#include "kube/object.h"

enum { SYNC_SECONDS = 60, PROTOCOL_UDP = 17 };

static const char *mapping_protocol(const json_t *mapping) {
    return json_number_at(mapping, "Protocol", 0) == PROTOCOL_UDP ? "UDP" : "TCP";
}

static char *frontend_text(const char *vip, long long port, const char *protocol) {
    return xasprintf("%s:%lld/%s", vip, port, protocol);
}

/* "10.96.0.10:53/UDP" of each mapping, ":30080/TCP" of one at a node port. */
static void add_frontends(const json_t *balancer, struct text_list *ret) {
    const json_t *vips = json_object_get(balancer, "FrontendVIPs");

    json_each(json_object_get(balancer, "PortMappings"), i, mapping) {
        long long port = json_number_at(mapping, "ExternalPort", 0);
        const char *protocol = mapping_protocol(mapping);

        json_each(vips, k, vip)
            if (json_is_string(vip))
                text_list_add_owned(ret, frontend_text(json_string_value(vip), port, protocol));
        if (!json_array_size(vips))
            text_list_add_owned(ret, frontend_text("", port, protocol));
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

static bool is_ready(const json_t *slice) {
    json_each(json_object_get(slice, "endpoints"), i, endpoint)
        if (json_bool_at(endpoint, "conditions.ready", true))
            return true;
    return false;
}

/* "ns/name port-name" of each port that has a ready endpoint. New reference. */
static json_t *ready_ports(const json_t *slices) {
    json_t *ready = json_object();

    json_each(json_object_get(slices, "items"), i, slice) {
        const char *service = drift_service_of(slice);

        if (!is_ready(slice))
            continue;
        json_each(json_object_get(slice, "ports"), k, item) {
            _cleanup_(freep) char *key =
                xasprintf("%s/%s %s", json_text_or(slice, "metadata.namespace", ""),
                          service ? service : "", json_text_or(item, "name", ""));

            drift_put(ready, key);
        }
    }
    return ready;
}

static void find_missing(const json_t *service, const json_t *ready, const json_t *frontends,
                         json_t *rows) {
    _cleanup_(freep) char *full = kube_full_name(service);

    json_each(json_at(service, "spec.ports"), i, port) {
        _cleanup_(freep) char *key = xasprintf("%s %s", full, json_text_or(port, "name", ""));
        _cleanup_(freep) char *frontend =
            frontend_text(json_text_at(service, "spec.clusterIP"), json_number_at(port, "port", 0),
                          drift_port_protocol(port));

        if (drift_has(ready, key) && !drift_has(frontends, frontend) &&
            !text_equal(drift_port_protocol(port),
                        "SCTP")) /* kube-proxy on Windows leaves it out */
            json_array_append_new(rows,
                                  json_pack("{s:s, s:s}", "service", full, "frontend", frontend));
    }
}

void drift_find_missing_balancers(const struct drift_seen *seen, json_t *rows) {
    _cleanup_json_ json_t *ready = ready_ports(seen->slices), *frontends = json_object();
    _cleanup_(text_list_free) struct text_list list = {0};

    if (!seen->slices || !seen->balancers)
        return;
    json_each(seen->balancers, i, balancer)
        add_frontends(balancer, &list);
    for (size_t i = 0; i < list.count; i++)
        drift_put(frontends, list.items[i]);
    json_each(json_object_get(seen->services, "items"), i, service)
        if (is_old(service, seen->now) && is_proxied(service))
            find_missing(service, ready, frontends, rows);
}

/* ---- load balancers without a Service ---- */

/* What load balancers may be for. The health check port of an address of type LoadBalancer is not
 * among a Service's ports: its address alone counts. */
static void add_wanted(const json_t *service, json_t *wanted, json_t *vips) {
    _cleanup_json_ json_t *own = json_object();

    drift_add_vips(service, own);
    json_each(json_at(service, "spec.ports"), i, port) {
        _cleanup_(freep) char *at_node =
            frontend_text("", json_number_at(port, "nodePort", 0), drift_port_protocol(port));

        drift_put(wanted, at_node);
        json_each_member(own, vip, value) {
            _cleanup_(freep) char *frontend =
                frontend_text(vip, json_number_at(port, "port", 0), drift_port_protocol(port));

            drift_put(wanted, frontend);
        }
    }
    if (text_equal(json_text_at(service, "spec.type"), "LoadBalancer"))
        json_object_update(vips, own);
}

void drift_find_orphan_balancers(const struct drift_seen *seen, json_t *rows) {
    _cleanup_json_ json_t *wanted = json_object(), *vips = json_object();

    if (!seen->services || !seen->slices)
        return;
    json_each(json_object_get(seen->services, "items"), i, service)
        add_wanted(service, wanted, vips);
    json_each(seen->balancers, i, balancer) {
        _cleanup_(text_list_free) struct text_list list = {0};

        add_frontends(balancer, &list);
        for (size_t k = 0; k < list.count; k++) {
            _cleanup_(freep) char *vip = xstrndup(list.items[k], strcspn(list.items[k], ":"));

            if (drift_has(wanted, list.items[k]) || drift_has(vips, vip))
                continue;
            add_row(rows, balancer, list.items[k]);
            break;
        }
    }
}

/* ---- load balancers that send elsewhere ---- */

void drift_find_empty_balancers(const struct drift_seen *seen, json_t *rows) {
    _cleanup_json_ json_t *addresses = drift_addresses(seen->endpoints);

    if (!seen->endpoints)
        return;
    json_each(seen->balancers, i, balancer) {
        const json_t *ids = json_object_get(balancer, "HostComputeEndpoints");
        bool any = !ids;

        json_each(ids, k, id) {
            const char *address = drift_address_of(addresses, json_string_value(id));

            any |= address && *address;
        }
        if (!any)
            add_row(rows, balancer, vip_of(balancer));
    }
}

/* The port of the Service that the mapping is for; NULL: of no port of it. */
static const json_t *port_of(const json_t *service, const json_t *mapping) {
    json_each(json_at(service, "spec.ports"), i, port)
        if (json_number_at(port, "port", 0) == json_number_at(mapping, "ExternalPort", 0) &&
            text_equal(drift_port_protocol(port), mapping_protocol(mapping)))
            return port;
    return NULL;
}

/* Does an EndpointSlice of the Service have that address? True also where it has no slice. */
static bool slices_hold(const json_t *slices, const json_t *service, const char *address) {
    bool any = false;

    json_each(json_object_get(slices, "items"), i, slice) {
        if (!drift_is_slice_of(slice, service))
            continue;
        any = true;
        json_each(json_object_get(slice, "endpoints"), k, endpoint)
            if (json_has_text(json_object_get(endpoint, "addresses"), address))
                return true;
    }
    return !any;
}

static bool is_for(const json_t *balancer, const json_t *service) {
    json_each(json_object_get(balancer, "PortMappings"), i, mapping)
        if (port_of(service, mapping))
            return true;
    return false;
}

void drift_find_other_pods(const struct drift_seen *seen, json_t *rows) {
    _cleanup_json_ json_t *addresses = drift_addresses(seen->endpoints);

    json_each(seen->balancers, i, balancer) {
        const json_t *service = drift_service_at(seen->services, vip_of(balancer));

        if (!is_for(balancer, service))
            continue;
        json_each(json_object_get(balancer, "HostComputeEndpoints"), k, id) {
            const char *address = drift_address_of(addresses, json_string_value(id));

            if (!address || !*address || slices_hold(seen->slices, service, address))
                continue;
            json_array_append_new(rows,
                                  json_pack("{s:s*, s:s*, s:s}", "id", json_text_at(balancer, "ID"),
                                            "frontend", vip_of(balancer), "address", address));
        }
    }
}

/* Does an EndpointSlice have that number for the Service's port? True also where no slice has the
 * port at all. */
static bool slices_have(const json_t *slices, const json_t *service, const json_t *port,
                        long long number) {
    bool any = false;

    json_each(json_object_get(slices, "items"), i, slice) {
        if (!drift_is_slice_of(slice, service) ||
            !json_array_size(json_object_get(slice, "endpoints")))
            continue;
        json_each(json_object_get(slice, "ports"), k, item) {
            if (!text_equal(json_text_or(item, "name", ""), json_text_or(port, "name", "")))
                continue;
            if (json_number_at(item, "port", 0) == number)
                return true;
            any = true;
        }
    }
    return !any;
}

void drift_find_other_ports(const struct drift_seen *seen, json_t *rows) {
    json_each(seen->balancers, i, balancer) {
        const json_t *service = drift_service_at(seen->services, vip_of(balancer));

        json_each(json_object_get(balancer, "PortMappings"), k, mapping) {
            const json_t *port = port_of(service, mapping);
            long long inside = json_number_at(mapping, "InternalPort", 0);

            if (port && inside && !slices_have(seen->slices, service, port, inside))
                json_array_append_new(
                    rows, json_pack("{s:s*, s:s, s:I}", "id", json_text_at(balancer, "ID"),
                                    "frontend", vip_of(balancer), "port", (json_int_t)inside));
        }
    }
}
