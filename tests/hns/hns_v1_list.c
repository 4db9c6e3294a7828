/* Version 1's policy lists: load balancers (ELB), and routes of endpoints (ROUTE). */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "tests/hns/model.h"

static json_t *references_to_v1(const json_t *object) {
    json_t *references = json_array(), *id;
    char path[64];
    size_t i;

    json_array_foreach(json_object_get(object, "HostComputeEndpoints"), i, id) {
        (void)snprintf(path, sizeof(path), "/endpoints/%s", json_string_value(id));
        json_array_append_new(references, json_string(path));
    }
    return references;
}

static json_t *balancer_policies(const json_t *balancer) {
    json_t *policies = json_array(), *mapping;
    json_t *vips = json_object_get(balancer, "FrontendVIPs"), *none = json_array();
    size_t i;

    json_array_foreach(json_object_get(balancer, "PortMappings"), i, mapping) {
        json_array_append_new(
            policies, json_pack("{s:s, s:O, s:O, s:O, s:s, s:O, s:b}", "Type", "ELB", "Protocol",
                                json_object_get(mapping, "Protocol"), "InternalPort",
                                json_object_get(mapping, "InternalPort"), "ExternalPort",
                                json_object_get(mapping, "ExternalPort"), "SourceVIP",
                                model_text(balancer, "SourceVIP"), "VIPs", vips ? vips : none,
                                "IsDSR", (int)(model_number(balancer, "Flags") & 1)));
    }
    json_decref(none);
    return policies;
}

/* hcsshim's version 2 sends "Setting"; Microsoft's documents say "Routes". */
static json_t *route_policies(const json_t *object) {
    static const char *const lists[] = {"Setting", "Routes"};
    json_t *policies = json_array(), *route;
    size_t i;

    for (size_t l = 0; l < sizeof(lists) / sizeof(lists[0]); l++) {
        json_array_foreach(json_object_get(object, lists[l]), i, route) {
            json_t *policy = json_pack("{s:s}", "Type", "ROUTE");

            json_object_update(policy, route);
            json_array_append_new(policies, policy);
        }
    }
    return policies;
}

json_t *model_v1_policy_list(enum model_kind kind, const json_t *object) {
    return json_pack("{s:s, s:o, s:o}", "ID", model_text(object, "ID"), "References",
                     references_to_v1(object), "Policies",
                     kind == SDN_ROUTE ? route_policies(object) : balancer_policies(object));
}

static json_t *references_to_v2(const json_t *references) {
    json_t *ids = json_array(), *reference;
    size_t i;

    json_array_foreach(references, i, reference) {
        const char *text = json_string_value(reference), *slash = strrchr(text, '/');

        json_array_append_new(ids, json_string(slash ? slash + 1 : text));
    }
    return ids;
}

static json_t *mapping_of(const json_t *elb) {
    return json_pack("{s:I, s:I, s:I, s:i}", "Protocol", (json_int_t)model_number(elb, "Protocol"),
                     "InternalPort", (json_int_t)model_number(elb, "InternalPort"), "ExternalPort",
                     (json_int_t)model_number(elb, "ExternalPort"), "Flags",
                     json_is_true(json_object_get(elb, "ILB")) ? 1 : 0);
}

/* Its members have the same names in both versions. */
static json_t *route_of(const json_t *policy) {
    json_t *route = json_copy((json_t *)policy);

    json_object_del(route, "Type");
    return route;
}

static json_t *to_v2(enum model_kind kind, const json_t *taken, const json_t *first,
                     json_t *items) {
    json_t *ids = references_to_v2(json_object_get(taken, "References"));
    bool dsr = json_is_true(json_object_get(first, "DSR")) ||
               json_is_true(json_object_get(first, "IsDSR"));

    if (kind == SDN_ROUTE)
        return json_pack("{s:{s:i}, s:s, s:o, s:o}", "SchemaVersion", "Major", 2, "ID",
                         model_text(taken, "ID"), "HostComputeEndpoints", ids, "Routes", items);
    return json_pack("{s:{s:i}, s:s, s:o, s:s, s:O?, s:i, s:o}", "SchemaVersion", "Major", 2, "ID",
                     model_text(taken, "ID"), "HostComputeEndpoints", ids, "SourceVIP",
                     model_text(first, "SourceVIP"), "FrontendVIPs", json_object_get(first, "VIPs"),
                     "Flags", (int)dsr, "PortMappings", items);
}

enum model_kind model_v1_list_kind(const json_t *v1) {
    const json_t *policy = json_array_get(json_object_get(v1, "Policies"), 0);

    return strcasecmp(model_text(policy, "Type"), "ROUTE") ? LOAD_BALANCER : SDN_ROUTE;
}

/* A list has policies of one type; load balancers in it share what the first says of frontends. */
int model_v1_from_policy_list(struct hns_model *m, enum model_kind kind, const json_t *v1,
                              json_t **ret) {
    const char *type = kind == SDN_ROUTE ? "ROUTE" : "ELB";
    json_t *taken, *policies, *policy, *items, *document;
    size_t i;
    int r = 0;

    if (model_take(m, model_v1_policy_list_schema, "", v1, &taken))
        return -1;
    policies = json_object_get(taken, "Policies");
    items = json_array();
    json_array_foreach(policies, i, policy) {
        if (strcasecmp(model_text(policy, "Type"), type))
            r = model_fail(m, HR_POLICY_TYPE, "'%.80s'", model_text(policy, "Type"));
        json_array_append_new(items, kind == SDN_ROUTE ? route_of(policy) : mapping_of(policy));
    }
    document = to_v2(kind, taken, json_array_get(policies, 0), items);
    if (!r)
        r = model_take(m, kind == SDN_ROUTE ? model_sdn_route_schema : model_load_balancer_schema,
                       "", document, ret);
    json_decref(document);
    json_decref(taken);
    return r;
}
