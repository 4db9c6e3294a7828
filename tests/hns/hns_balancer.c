/* Load balancers: frontends that nobody else has, endpoints that are there. */
#include <string.h>

#include "tests/hns/model.h"

/* Since the updates of 2022 (Windows-Containers#93). */
enum { BACKENDS_MAX = 1024, BACKENDS_MAX_2019 = 64, UPDATED = 12 };
enum { PROTOCOL_TCP = 6, PROTOCOL_UDP = 17, LB_IPV6 = 2, LOCAL_ROUTED_VIP = 2 };

static bool share_vip(const json_t *a, const json_t *b) {
    const json_t *va = json_object_get(a, "FrontendVIPs"), *vb = json_object_get(b, "FrontendVIPs");
    const json_t *x, *y;
    size_t i, k;

    if (!json_array_size(va) && !json_array_size(vb))
        return true; /* both stand on the node's own addresses */
    json_array_foreach(va, i, x) {
        json_array_foreach(vb, k, y) {
            if (!strcmp(json_string_value(x), json_string_value(y)))
                return true;
        }
    }
    return false;
}

static bool share_port(const json_t *a, const json_t *b) {
    const json_t *x, *y;
    size_t i, k;

    json_array_foreach(json_object_get(a, "PortMappings"), i, x) {
        json_array_foreach(json_object_get(b, "PortMappings"), k, y) {
            if (model_number(x, "Protocol") == model_number(y, "Protocol") &&
                model_number(x, "ExternalPort") == model_number(y, "ExternalPort"))
                return true;
        }
    }
    return false;
}

static bool share_frontend(const json_t *a, const json_t *b) {
    return (model_number(a, "Flags") & LB_IPV6) == (model_number(b, "Flags") & LB_IPV6) &&
           share_vip(a, b) && share_port(a, b);
}

static int check_frontends(struct hns_model *m, const json_t *balancer) {
    const char *id;
    json_t *other;
    size_t i;

    json_object_foreach(m->objects[LOAD_BALANCER], id, other) {
        if (strcmp(id, model_text(balancer, "ID")) && share_frontend(balancer, other))
            return model_fail(m, HR_PORT_EXISTS, "load balancer %s has this frontend", id);
    }
    json_array_foreach(m->orphans, i, other) {
        if (share_frontend(balancer, other))
            return model_fail(m, (unsigned)model_number(other, "_hr"), "policy of %s",
                              model_text(other, "ID"));
    }
    return 0;
}

/* A load balancer goes, its frontends stay taken: a crash leaves policies that no call shows
 * (kubernetes#137530: 0x803b0013 again and again; kubernetes#139519: 0xb7). */
int model_balancer_orphan(struct hns_model *m, const char *id, unsigned hr) {
    json_t *balancer = model_find(m, LOAD_BALANCER, id), *orphan;

    if (!balancer)
        return -1;
    orphan = json_deep_copy(balancer);
    json_object_set_new(orphan, "_hr", json_integer((json_int_t)hr));
    json_array_append_new(m->orphans, orphan);
    return model_remove(m, LOAD_BALANCER, id);
}

static int check_backends(struct hns_model *m, const json_t *balancer) {
    const json_t *ids = json_object_get(balancer, "HostComputeEndpoints"), *id;
    int max = m->major >= UPDATED ? BACKENDS_MAX : BACKENDS_MAX_2019;
    size_t i;

    if (json_array_size(ids) > (size_t)max)
        return model_fail(m, HR_PARAMETER, "HostComputeEndpoints: %zu, at most %d",
                          json_array_size(ids), max);
    json_array_foreach(ids, i, id) {
        if (!json_object_get(m->objects[ENDPOINT], json_string_value(id)))
            return model_fail(m, HR_NOT_FOUND, "HostComputeEndpoints[%zu]: %s", i,
                              json_string_value(id));
        for (size_t k = 0; k < i; k++)
            if (!strcmp(json_string_value(json_array_get(ids, k)), json_string_value(id)))
                return model_fail(m, HR_PARAMETER, "HostComputeEndpoints[%zu] is there twice", i);
    }
    return 0;
}

static int check_mappings(struct hns_model *m, const json_t *balancer) {
    const json_t *mappings = json_object_get(balancer, "PortMappings"), *mapping;
    bool vips = json_array_size(json_object_get(balancer, "FrontendVIPs")) > 0;
    size_t i;

    if (!json_array_size(mappings))
        return model_fail(m, HR_PARAMETER, "PortMappings must not be empty");
    json_array_foreach(mappings, i, mapping) {
        uint64_t protocol = model_number(mapping, "Protocol");

        if (protocol != PROTOCOL_TCP && protocol != PROTOCOL_UDP)
            return model_fail(m, HR_PARAMETER, "PortMappings[%zu]: Protocol %u", i,
                              (unsigned)protocol);
        if (!vips && !(model_number(mapping, "Flags") & LOCAL_ROUTED_VIP))
            return model_fail(m, HR_PARAMETER,
                              "PortMappings[%zu]: without FrontendVIPs it must be LocalRoutedVIP",
                              i);
    }
    return 0;
}

int model_balancer_make(struct hns_model *m, json_t *balancer) {
    if (!json_object_get(balancer, "Flags"))
        json_object_set_new(balancer, "Flags", json_integer(0));
    return check_mappings(m, balancer) || check_backends(m, balancer) ||
                   check_frontends(m, balancer)
               ? -1
               : 0;
}

/* HcnModifyLoadBalancer gets the whole document, without ID. */
int model_balancer_modify(struct hns_model *m, json_t *balancer, const char *document) {
    json_t *parsed, *taken;
    int r;

    if (!model_has(m, F_MODIFY_LOAD_BALANCER))
        return model_fail(m, HR_UNSUPPORTED, "%s", model_feature_text(F_MODIFY_LOAD_BALANCER));
    if (model_parse(m, document, &parsed))
        return -1;
    r = model_take(m, model_load_balancer_schema, "", parsed, &taken);
    json_decref(parsed);
    if (r)
        return -1;
    json_object_set(taken, "ID", json_object_get(balancer, "ID"));
    json_object_set(taken, "Health", json_object_get(balancer, "Health"));
    r = model_balancer_make(m, taken);
    if (!r) {
        json_object_clear(balancer);
        json_object_update(balancer, taken);
        m->changed = true;
    }
    json_decref(taken);
    return r;
}
