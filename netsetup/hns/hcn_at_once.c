/* Version 1's lists as documents of version 2. */
#include "netsetup/hns/hcn_at_once.h"

#include "netsetup/hns/hcn_lookup.h"

static const char *text_of(const json_t *v1, const char *key) {
    const char *text = json_string_value(json_object_get(v1, key));

    return text && *text ? text : NULL;
}

static void add_endpoint(const json_t *v1, json_t *list) {
    const char *address = text_of(v1, "IPAddress");

    json_array_append_new(
        list,
        json_pack("{s:s*, s:s*, s:s*, s:i, s:[{s:s*}]}", "ID", text_of(v1, "ID"), "Name",
                  text_of(v1, "Name"), "HostComputeNetwork", text_of(v1, "VirtualNetwork"), "Flags",
                  json_is_true(json_object_get(v1, "IsRemoteEndpoint")), "IpConfigurations",
                  "IpAddress", address ? address : text_of(v1, "IPv6Address")));
}

/* "/endpoints/ID" */
static json_t *ids_of(const json_t *references) {
    json_t *ids = json_array();

    json_each(references, i, reference) {
        const char *path = json_string_value(reference), *slash = path ? strrchr(path, '/') : NULL;

        if (path)
            json_array_append_new(ids, json_string(slash ? slash + 1 : path));
    }
    return ids;
}

/* A policy list is a load balancer when its policies are; each of them is a port, and they share
 * what the first says of the frontend. */
static void add_balancer(const json_t *v1, json_t *list) {
    const json_t *policies = json_object_get(v1, "Policies"), *first = json_array_get(policies, 0);
    json_t *mappings;

    if (!text_equal_nocase(text_of(first, "Type"), "ELB"))
        return;
    mappings = json_array();
    json_each(policies, i, policy)
        json_array_append_new(mappings,
                              json_pack("{s:O*, s:O*, s:O*}", "Protocol",
                                        json_object_get(policy, "Protocol"), "ExternalPort",
                                        json_object_get(policy, "ExternalPort"), "InternalPort",
                                        json_object_get(policy, "InternalPort")));
    json_array_append_new(
        list, json_pack("{s:s*, s:o, s:s*, s:O*, s:i, s:o}", "ID", text_of(v1, "ID"),
                        "HostComputeEndpoints", ids_of(json_object_get(v1, "References")),
                        "SourceVIP", text_of(first, "SourceVIP"), "FrontendVIPs",
                        json_object_get(first, "VIPs"), "Flags",
                        json_is_true(json_object_get(first, "IsDSR")), "PortMappings", mappings));
}

/* NULL: version 1 does not answer so. */
static json_t *list_v1(struct host *host, enum hcn_kind kind) {
    bool endpoints = kind == HCN_ENDPOINT;
    _cleanup_(freep) char *text = NULL;
    _cleanup_json_ json_t *envelope = NULL;
    json_t *list;

    if (hns_call(host, "GET", endpoints ? "/endpoints/" : "/policylists/", "", &text,
                 ERROR_IGNORED) < 0 ||
        json_read(text, strlen(text), "HNS' list", &envelope, ERROR_IGNORED) < 0)
        return NULL;
    list = json_array();
    json_each(json_object_get(envelope, "Output"), i, v1)
        endpoints ? add_endpoint(v1, list) : add_balancer(v1, list);
    return list;
}

int hcn_list_at_once(struct host *host, enum hcn_kind kind, json_t **ret, struct error *err) {
    _cleanup_(freep) char *text = NULL;
    _cleanup_json_ json_t *ids = NULL, *list = NULL;

    if (hcn_enumerate(host, kind, NULL, &text, err) < 0 ||
        json_read(text, strlen(text), "list of HNS IDs", &ids, err) < 0)
        return -1;
    list = json_array_size(ids) > 1 ? list_v1(host, kind) : NULL;
    if (json_array_size(list) != json_array_size(ids) || !list)
        return hcn_list(host, kind, NULL, NULL, ret, err);
    *ret = take_ptr(list);
    return 0;
}
