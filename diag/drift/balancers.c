/* HNS' load balancers against the Services and their EndpointSlices. */
#include "diag/drift/kinds.h"

#include "base/rfc3339.h"
#include "kube/object.h"

enum { SYNC_SECONDS = 60 };

char *drift_frontend(const char *vip, long long port, const char *protocol) {
    return xasprintf("%s:%lld/%s", vip ? vip : "", port, protocol);
}

static void add_row(json_t *rows, const struct drift_balancer *balancer, const char *frontend) {
    json_array_append_new(rows,
                          json_pack("{s:s*, s:s*}", "id", balancer->id, "frontend", frontend));
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
    for (size_t i = 0; i < index->frontends.count; i++)
        drift_put(&frontends, index->frontends.items[i]);
    json_each(json_object_get(seen->services, "items"), i, service)
        if (is_old(service, seen->now) && is_proxied(service))
            find_missing(service, index, &frontends, rows);
}

/* ---- load balancers without a Service ---- */

/* The first frontend that nothing is for; NULL: all are wanted. */
static const char *unwanted_of(struct drift_index *index, const struct drift_balancer *balancer) {
    for (size_t i = balancer->frontend; i < balancer->frontend_end; i++) {
        const char *frontend = index->frontends.items[i];
        _cleanup_(freep) char *vip = xstrndup(frontend, strcspn(frontend, ":"));

        if (!drift_has(&index->wanted, frontend) && !drift_has(&index->wanted, vip))
            return frontend;
    }
    return NULL;
}

void drift_find_orphan_balancers(const struct drift_seen *seen, struct drift_index *index,
                                 json_t *rows) {
    if (!seen->services || !seen->slices)
        return;
    for (size_t i = 0; i < index->balancer_count; i++) {
        const char *frontend = unwanted_of(index, &index->balancers[i]);

        if (frontend)
            add_row(rows, &index->balancers[i], frontend);
    }
}

/* ---- load balancers that send elsewhere ---- */

void drift_find_empty_balancers(const struct drift_seen *seen, struct drift_index *index,
                                json_t *rows) {
    if (!seen->endpoints)
        return;
    for (size_t i = 0; i < index->balancer_count; i++) {
        const struct drift_balancer *balancer = &index->balancers[i];
        bool any = !balancer->names_endpoints;

        for (size_t k = balancer->address; k < balancer->address_end; k++)
            any |= *index->balanced[k] != '\0';
        if (!any)
            add_row(rows, balancer, balancer->vip);
    }
}

/* "ns/name": the Service that the load balancer is for; the caller frees. NULL: none. */
static char *service_of(const struct drift_index *index, const struct drift_balancer *balancer) {
    for (size_t i = balancer->mapping; i < balancer->mapping_end; i++) {
        const char *port = index->mappings[i].port;

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

void drift_find_other_pods(const struct drift_seen *, struct drift_index *index, json_t *rows) {
    for (size_t i = 0; i < index->balancer_count; i++) {
        const struct drift_balancer *balancer = &index->balancers[i];
        _cleanup_(freep) char *service = service_of(index, balancer);

        if (!service)
            continue;
        for (size_t k = balancer->address; k < balancer->address_end; k++) {
            const char *address = index->balanced[k];

            if (*address && !slices_hold(index, service, address))
                json_array_append_new(rows,
                                      json_pack("{s:s*, s:s*, s:s}", "id", balancer->id, "frontend",
                                                balancer->vip, "address", address));
        }
    }
}

/* Does an EndpointSlice have that number for the Service's port? True also where no slice has the
 * port at all. */
static bool slices_have(struct drift_index *index, const char *port, long long number) {
    _cleanup_(freep) char *key = xasprintf("%s %lld", port, number);

    return drift_has(&index->numbers, key) || !drift_has(&index->numbers, port);
}

void drift_find_other_ports(const struct drift_seen *, struct drift_index *index, json_t *rows) {
    for (size_t i = 0; i < index->balancer_count; i++) {
        const struct drift_balancer *balancer = &index->balancers[i];

        for (size_t k = balancer->mapping; k < balancer->mapping_end; k++) {
            const struct drift_mapping *mapping = &index->mappings[k];

            if (mapping->port && mapping->inside &&
                !slices_have(index, mapping->port, mapping->inside))
                json_array_append_new(rows, json_pack("{s:s*, s:s, s:I}", "id", balancer->id,
                                                      "frontend", balancer->vip, "port",
                                                      (json_int_t)mapping->inside));
        }
    }
}
