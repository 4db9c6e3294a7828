/* Version 1 documents are kept as version 2 ones and turned back when asked for. */
#include "host/model/hns_v1.h"

#include <string.h>

#include "base/cidr.h"
#include "base/memory.h"

static char *envelope(json_t *output) {
    _cleanup_json_ json_t *json = json_pack("{s:b, s:o}", "Success", 1, "Output", output);

    return json_write(json);
}

static char *failure(const char *text, uint32_t hresult) {
    _cleanup_json_ json_t *json =
        json_pack("{s:b, s:s, s:I}", "Success", 0, "Error", text, "ErrorCode", (json_int_t)hresult);

    return json_write(json);
}

static json_t *network_v1(json_t *state, const json_t *network) {
    const char *id = json_text_at(network, "ID");
    json_t *subnets = json_array();
    char address[IP_TEXT_MAX];

    json_each(json_at(network, "Ipams.0.Subnets"), i, subnet)
        json_array_append_new(subnets,
                              json_pack("{s:s*, s:s*}", "AddressPrefix",
                                        json_text_at(subnet, "IpAddressPrefix"), "GatewayAddress",
                                        json_text_at(subnet, "Routes.0.NextHop")));
    return json_pack("{s:s, s:s*, s:s*, s:s*, s:o}", "ID", id, "Name",
                     json_text_at(network, "Name"), "Type", json_text_at(network, "Type"),
                     "ManagementIP", model_hns_management_address(state, id, address), "Subnets",
                     subnets);
}

static json_t *endpoint_v1(json_t *state, const json_t *endpoint) {
    bool attached = json_bool_at(endpoint, "Attached", false);

    (void)state;
    const char *address6 = json_text_at(endpoint, "IpConfigurations.1.IpAddress");
    return json_pack("{s:s, s:s*, s:s*, s:s*, s:I, s:s*, s:s*, s:i}", "ID",
                     json_text_at(endpoint, "ID"), "Name", json_text_at(endpoint, "Name"),
                     "VirtualNetwork", json_text_at(endpoint, "HostComputeNetwork"), "IPAddress",
                     json_text_at(endpoint, "IpConfigurations.0.IpAddress"), "PrefixLength",
                     (json_int_t)json_number_at(endpoint, "IpConfigurations.0.PrefixLength", 24),
                     "IPv6Address", address6, "MacAddress", json_text_at(endpoint, "MacAddress"),
                     "State", attached ? 2 : 1);
}

static json_t *network_v2(const json_t *v1) {
    json_t *subnets = json_array();
    json_t *policies = json_array();

    json_each(json_object_get(v1, "Subnets"), i, subnet)
        json_array_append_new(subnets, json_pack("{s:s*, s:[{s:s*, s:s}]}", "IpAddressPrefix",
                                                 json_text_at(subnet, "AddressPrefix"), "Routes",
                                                 "NextHop", json_text_at(subnet, "GatewayAddress"),
                                                 "DestinationPrefix", "0.0.0.0/0"));
    if (json_text_at(v1, "NetworkAdapterName"))
        json_array_append_new(policies, json_pack("{s:s, s:{s:s}}", "Type", "NetAdapterName",
                                                  "Settings", "NetworkAdapterName",
                                                  json_text_at(v1, "NetworkAdapterName")));
    return json_pack("{s:s*, s:s*, s:o, s:[{s:s, s:o}]}", "Name", json_text_at(v1, "Name"), "Type",
                     json_text_at(v1, "Type"), "Policies", policies, "Ipams", "Type", "Static",
                     "Subnets", subnets);
}

static json_t *endpoint_v2(const json_t *v1) {
    const char *address = json_text_at(v1, "IPAddress");
    json_t *endpoint =
        json_pack("{s:s*, s:s*, s:s*}", "Name", json_text_at(v1, "Name"), "HostComputeNetwork",
                  json_text_at(v1, "VirtualNetwork"), "MacAddress", json_text_at(v1, "MacAddress"));

    if (address)
        json_object_set_new(endpoint, "IpConfigurations",
                            json_pack("[{s:s, s:i}]", "IpAddress", address, "PrefixLength",
                                      (int)json_number_at(v1, "PrefixLength", 24)));
    return endpoint;
}

/* The collections that version 1 knows. */
struct collection {
    const char *path, *member;
    json_t *(*show)(json_t *state, const json_t *object);
    json_t *(*take)(const json_t *v1);
};

static const struct collection collections[] = {
    {"/networks/", "networks", network_v1, network_v2},
    {"/endpoints/", "endpoints", endpoint_v1, endpoint_v2},
};

static char *get_all(json_t *state, const struct collection *c) {
    json_t *all = json_array();

    json_each_member(json_object_get(json_object_get(state, "hns"), c->member), id, object)
        json_array_append_new(all, c->show(state, object));
    return envelope(all);
}

static bool is_taken(json_t *state, const char *address) {
    json_each_member(json_at(state, "hns.endpoints"), id, endpoint) {
        if (text_equal(json_text_at(endpoint, "IpConfigurations.0.IpAddress"), address))
            return true;
    }
    return false;
}

/* HNS gives an endpoint without an address the first that is free behind the gateway. */
static void choose_address(json_t *state, json_t *v1) {
    const char *network = json_text_at(v1, "VirtualNetwork"), *prefix;
    struct cidr subnet;
    struct ip ip;
    char text[IP_TEXT_MAX];

    prefix = json_text_at(network ? model_hns_find(state, "networks", network) : NULL,
                          "Ipams.0.Subnets.0.IpAddressPrefix");
    if (!prefix || json_text_at(v1, "IPAddress") || cidr_parse(prefix, &subnet, NULL) < 0)
        return;
    for (uint64_t n = 2; cidr_address(&subnet, n, &ip, NULL) == 0; n++) {
        ip_format(&ip, text);
        if (is_taken(state, text))
            continue;
        json_object_set_new(v1, "IPAddress", json_string(text));
        return;
    }
}

static char *post(json_t *state, const struct collection *c, const char *request) {
    _cleanup_json_ json_t *v1 = NULL;

    if (json_read(request, strlen(request), "request", &v1, NULL) < 0)
        return failure("The JSON document is invalid.", 0x803b001b);
    choose_address(state, v1);
    return envelope(c->show(state, model_hns_keep(state, c->member, NULL, c->take(v1))));
}

static char *on_object(json_t *state, const struct collection *c, const char *method,
                       const char *rest) {
    _cleanup_(freep) char *id = xstrndup(rest, strcspn(rest, "/"));
    const char *action = rest + strlen(id);
    json_t *object = model_hns_find(state, c->member, id);
    json_t *shown;

    if (!object)
        return failure("Element not found.", 0x80070490);
    if (text_equal(action, "/attach") || text_equal(action, "/detach")) {
        bool attach = text_equal(action, "/attach");

        if (attach && json_bool_at(object, "Attached", false))
            return failure("This endpoint is already attached to the switch.", 0x803b0014);
        json_object_set_new(object, "Attached", json_boolean(attach));
    }
    shown = c->show(state, object);
    if (text_equal(method, "DELETE")) {
        _cleanup_(freep) char *key = text_lower(id);

        json_object_del(json_object_get(json_object_get(state, "hns"), c->member), key);
    }
    return envelope(shown);
}

char *model_hns_v1(json_t *state, const char *method, const char *path, const char *request) {
    if (text_equal(path, "/globals/version"))
        return envelope(json_pack(
            "{s:I, s:I}", "Major", (json_int_t)json_number_at(state, "hns.version.major", 13),
            "Minor", (json_int_t)json_number_at(state, "hns.version.minor", 2)));
    if (text_starts_with(path, "/policylists/"))
        return envelope(json_array());
    for (size_t i = 0; i < ARRAY_SIZE(collections); i++) {
        const struct collection *c = &collections[i];

        if (!text_starts_with(path, c->path))
            continue;
        if (path[strlen(c->path)])
            return on_object(state, c, method, path + strlen(c->path));
        return text_equal(method, "POST") ? post(state, c, request) : get_all(state, c);
    }
    return failure("The request is not supported.", 0x80070032);
}
