/* Objects of HNS found and made the way that the upstream programs do it. */
#include "tests/standins/lib/hcn.h"

#include "base/memory.h"
#include "base/text.h"

#include <string.h>

#define QUERY "{\"SchemaVersion\":{\"Major\":2,\"Minor\":0}}"

static char *query(const char *key, const char *value) {
    if (!key)
        return xstrdup(QUERY);
    return xasprintf("{\"SchemaVersion\":{\"Major\":2,\"Minor\":0},\"Filter\":"
                     "\"{\\\"%s\\\":\\\"%s\\\"}\"}",
                     key, value);
}

int hcn_find_all(struct host *host, enum hcn_kind kind, const char *key, const char *value,
                 json_t **ret, struct error *err) {
    _cleanup_(freep) char *document = query(key, value), *answer = NULL;
    _cleanup_(json_decrefp_) json_t *ids = NULL, *found = json_array();
    size_t i;
    json_t *id;

    if (hcn_enumerate(host, kind, document, &answer, err) ||
        json_read(answer, strlen(answer), "the list of ids", &ids, err))
        return -1;
    json_array_foreach(ids, i, id) {
        _cleanup_(freep) char *properties = NULL;
        json_t *object = NULL;
        struct error gone = {0};
        if (hcn_query(host, kind, json_string_value(id), document, &properties, &gone))
            continue; /* deleted meanwhile */
        if (json_read(properties, strlen(properties), "properties", &object, err))
            return -1;
        (void)json_array_append_new(found, object); /* fails on no memory only */
    }
    *ret = take_ptr(found);
    return 0;
}

int hcn_find(struct host *host, enum hcn_kind kind, const char *key, const char *value,
             json_t **ret, struct error *err) {
    _cleanup_(json_decrefp_) json_t *found = NULL;

    if (hcn_find_all(host, kind, key, value, &found, err))
        return -1;
    *ret = json_incref(json_array_get(found, 0));
    return 0;
}

int hcn_make(struct host *host, enum hcn_kind kind, const char *network, const json_t *document,
             json_t **ret, struct error *err) {
    _cleanup_(freep) char *text = json_write(document), *properties = NULL;

    if (hcn_create(host, kind, network, NULL, text, &properties, err))
        return -1;
    return ret ? json_read(properties, strlen(properties), "properties", ret, err) : 0;
}

int hcn_change(struct host *host, enum hcn_kind kind, const char *id, const char *resource,
               const char *request, json_t *settings, struct error *err) {
    _cleanup_(json_decrefp_) json_t *document = json_pack(
        "{s:s,s:s,s:o}", "ResourceType", resource, "RequestType", request, "Settings", settings);
    _cleanup_(freep) char *text = json_write(document);

    return hcn_modify(host, kind, id, text, err);
}

json_t *hcn_policy(const json_t *object, const char *type) {
    size_t i;
    json_t *policy;

    json_array_foreach(json_object_get(object, "Policies"), i, policy) {
        if (text_equal(json_text_at(policy, "Type"), type))
            return json_object_get(policy, "Settings");
    }
    return NULL;
}

int hcn_version(struct host *host, unsigned *ret_major, unsigned *ret_minor, struct error *err) {
    _cleanup_(freep) char *answer = NULL;
    _cleanup_(json_decrefp_) json_t *version = NULL;

    if (hns_call(host, "GET", "/globals/version", "", &answer, err) ||
        json_read(answer, strlen(answer), "HNS version", &version, err))
        return -1;
    *ret_major = (unsigned)json_number_at(version, "Output.Major", 0);
    *ret_minor = (unsigned)json_number_at(version, "Output.Minor", 0);
    return 0;
}

json_t *hcn_schema(void) {
    return json_pack("{s:i,s:i}", "Major", 2, "Minor", 0);
}

int hcn_subnet(const json_t *network, const char **ret_prefix, const char **ret_gateway) {
    const char *prefix = json_text_at(network, "Ipams.0.Subnets.0.IpAddressPrefix");
    const char *gateway = json_text_at(network, "Ipams.0.Subnets.0.Routes.0.NextHop");

    if (!prefix)
        return -1;
    *ret_prefix = prefix;
    *ret_gateway = gateway;
    return 0;
}
