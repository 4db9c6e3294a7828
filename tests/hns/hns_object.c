/* The objects of every kind: found by id, made, removed, opened, shown. */
#include <stdio.h>
#include <string.h>

#include "tests/hns/model.h"

const char *const model_kind_names[] = {"Network", "Endpoint", "Namespace", "LoadBalancer",
                                        "SdnRoute"};
const struct model_field *const model_kind_schemas[] = {
    model_network_schema, model_endpoint_schema, model_namespace_schema, model_load_balancer_schema,
    model_sdn_route_schema};

const char *model_text(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

uint64_t model_number(const json_t *object, const char *key) {
    return (uint64_t)json_integer_value(json_object_get(object, key));
}

/* splitmix64: ids must differ, not be secret. */
static uint64_t next_random(struct hns_model *m) {
    uint64_t z = m->random += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

void model_guid(struct hns_model *m, char out[37]) {
    uint64_t a = next_random(m), b = next_random(m);

    (void)snprintf(out, 37, "%08x-%04x-4%03x-a%03x-%012llx", (unsigned)(a >> 32),
                   (unsigned)(a >> 16 & 0xffff), (unsigned)(a & 0xfff), (unsigned)(b >> 48 & 0xfff),
                   (unsigned long long)(b & 0xffffffffffffu));
}

void model_mac(struct hns_model *m, unsigned family, char out[18]) {
    m->next_mac++;
    (void)snprintf(out, 18, "00-15-5D-%02X-%02X-%02X", family & 0xff, m->next_mac >> 8 & 0xff,
                   m->next_mac & 0xff);
}

void model_dr_mac(struct hns_model *m, char out[18]) {
    const char *mac = model_text(json_array_get(m->adapters, 0), "mac");
    const char *tail = strlen(mac) == 17 ? mac + 12 : "DD-00";

    m->next_mac++;
    (void)snprintf(out, 18, "00-15-5D-%s-%02X", tail, m->next_mac & 0xff);
}

json_t *model_find(struct hns_model *m, enum model_kind kind, const char *id) {
    char guid[40];
    json_t *object = NULL;

    if (id && model_guid_read(id, guid))
        object = json_object_get(m->objects[kind], guid);
    if (!object)
        (void)model_fail(m,
                         kind == NETWORK    ? HR_NETWORK_NOT_FOUND
                         : kind == ENDPOINT ? HR_ENDPOINT_NOT_FOUND
                                            : HR_NOT_FOUND,
                         "%s %.64s", model_kind_names[kind], id ? id : "");
    return object;
}

static int check_version(struct hns_model *m, enum model_kind kind, const json_t *taken) {
    const json_t *version = json_object_get(taken, "SchemaVersion");
    unsigned major = (unsigned)model_number(version, "Major");

    if (major == 2 || (kind == NAMESPACE && !major && !model_number(version, "Minor")))
        return 0;
    return model_fail(m, HR_PARAMETER, "SchemaVersion %u.%u", major,
                      (unsigned)model_number(version, "Minor"));
}

static int choose_id(struct hns_model *m, enum model_kind kind, const char *id, json_t *taken) {
    char guid[40];
    const char *own = model_text(taken, "ID");

    if (!*own || !strcmp(own, "00000000-0000-0000-0000-000000000000"))
        own = id ? id : "";
    if (*own && !model_guid_read(own, guid))
        return model_fail(m, HR_PARAMETER, "Id '%.64s'", own);
    if (!*own || !strcmp(guid, "00000000-0000-0000-0000-000000000000"))
        model_guid(m, guid);
    if (json_object_get(m->objects[kind], guid))
        return model_fail(m, HR_OBJECT_EXISTS, "%s %s", model_kind_names[kind], guid);
    json_object_set_new(taken, "ID", json_string(guid));
    return 0;
}

/* A route without a prefix says nothing, like a load balancer without a port. No recording shows
 * the answer: the code is inferred. */
static int check_route(struct hns_model *m, const json_t *route) {
    const json_t *id;
    size_t i;

    if (!json_array_size(json_object_get(route, "Routes")) &&
        !json_array_size(json_object_get(route, "Setting")))
        return model_fail(m, HR_PARAMETER, "Routes must not be empty");
    json_array_foreach(json_object_get(route, "HostComputeEndpoints"), i, id) {
        if (!json_object_get(m->objects[ENDPOINT], json_string_value(id)))
            return model_fail(m, HR_NOT_FOUND, "endpoint %s", json_string_value(id));
    }
    return 0;
}

static int make(struct hns_model *m, enum model_kind kind, json_t *taken, const char *network) {
    switch (kind) {
    case NETWORK:
        return model_network_make(m, taken);
    case ENDPOINT:
        return model_endpoint_make(m, taken, network);
    case NAMESPACE:
        return model_namespace_make(m, taken);
    case LOAD_BALANCER:
        return model_balancer_make(m, taken);
    default:
        return check_route(m, taken);
    }
}

/* Takes `taken` over; the answer is borrowed. */
json_t *model_create(struct hns_model *m, enum model_kind kind, const char *id, json_t *taken,
                     const char *network) {
    if (check_version(m, kind, taken) || choose_id(m, kind, id, taken) ||
        make(m, kind, taken, network)) {
        json_decref(taken);
        return NULL;
    }
    json_object_set_new(taken, "Health",
                        json_pack("{s:i, s:i}", "LastErrorCode", 0, "LastUpdateTime", 0));
    json_object_set_new(m->objects[kind], model_text(taken, "ID"), taken);
    m->changed = true;
    return taken;
}

static void leave_list(json_t *list, const char *id) {
    for (size_t i = json_array_size(list); i-- > 0;) {
        const json_t *item = json_array_get(list, i);
        const char *text = json_is_string(item) ? json_string_value(item)
                                                : model_text(json_object_get(item, "Data"), "Id");

        if (!strcmp(text, id))
            json_array_remove(list, i);
    }
}

/* What a removed object leaves behind in others. */
static void unlink_object(struct hns_model *m, enum model_kind kind, const char *id) {
    const char *key;
    json_t *other;
    void *next;

    if (kind == ENDPOINT) {
        json_object_foreach(m->objects[NAMESPACE], key, other)
            leave_list(json_object_get(other, "Resources"), id);
        json_object_foreach(m->objects[LOAD_BALANCER], key, other)
            leave_list(json_object_get(other, "HostComputeEndpoints"), id);
    }
    json_object_foreach_safe(m->objects[ENDPOINT], next, key, other) {
        if (kind == NETWORK && !strcmp(model_text(other, "HostComputeNetwork"), id))
            (void)model_remove(m, ENDPOINT, key);
        else if (kind == NAMESPACE && !strcmp(model_text(other, "HostComputeNamespace"), id))
            json_object_del(other, "HostComputeNamespace");
    }
}

int model_remove(struct hns_model *m, enum model_kind kind, const char *id) {
    json_t *object = model_find(m, kind, id);
    char guid[40];

    if (!object || !model_guid_read(id, guid))
        return -1;
    json_incref(object);
    json_object_del(m->objects[kind], guid);
    unlink_object(m, kind, guid);
    if (kind == NETWORK)
        model_network_gone(m, object);
    json_decref(object);
    m->changed = true;
    return 0;
}

/* What is stuck (control op `stick`) cannot be deleted, as namespaces that HCS still holds:
 * rancher/rke2#5551, microsoft/hcsshim#2155. */
int model_delete(struct hns_model *m, enum model_kind kind, const char *id) {
    const json_t *object = model_find(m, kind, id);

    if (!object)
        return -1;
    if (json_object_get(object, "_stuck"))
        return model_fail(m, HR_UNSUPPORTED, "%s %s is in use", model_kind_names[kind],
                          model_text(object, "ID"));
    return model_remove(m, kind, id);
}

const char *model_open(struct hns_model *m, enum model_kind kind, const char *id) {
    char hex[24];

    m->next_handle += 8;
    (void)snprintf(hex, sizeof(hex), "%x", m->next_handle);
    json_object_set_new(m->handles, hex, json_pack("{s:i, s:s}", "kind", (int)kind, "id", id));
    return json_object_iter_key(json_object_iter_at(m->handles, hex));
}

/* The policies as a caller reads them: Overlay's ProviderAddress is the management address, and is
 * there only while the host has one. */
static void show_provider(const struct hns_model *m, const json_t *network, json_t *shown) {
    char ip[46];
    json_t *policies;

    if (model_network_type(network) != OVERLAY ||
        model_policy_find(json_object_get(network, "Policies"), "ProviderAddress") ||
        !*model_management_ip(m, network, 4, ip))
        return;
    policies = json_copy(json_object_get(network, "Policies"));
    json_array_append_new(policies, json_pack("{s:s, s:{s:s}}", "Type", "ProviderAddress",
                                              "Settings", "ProviderAddress", ip));
    json_object_set_new(shown, "Policies", policies);
}

json_t *model_public(const struct hns_model *m, enum model_kind kind, const json_t *object) {
    json_t *shown = json_object(), *value;
    const char *key;

    json_object_foreach((json_t *)object, key, value) {
        if (key[0] != '_')
            json_object_set(shown, key, value);
    }
    if (kind == NETWORK) {
        show_provider(m, object, shown);
        if (!strcmp(model_text(object, "Type"), "NAT")) /* enumeration value zero is left out */
            json_object_del(shown, "Type");
    }
    return shown;
}
