/* The same state in version 1's words, there and back: flat networks, endpoints, policy lists. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "tests/hns/model.h"

enum { STATE_CREATED = 1, PROTOCOL_TCP = 6, PROTOCOL_UDP = 17 };

static const struct {
    const char *name;
    int number;
} protocols[] = {{"TCP", PROTOCOL_TCP}, {"UDP", PROTOCOL_UDP}, {"ICMPv4", 1}, {0}};

static json_t *split(const char *text) {
    json_t *list = json_array();

    while (*text) {
        size_t len = strcspn(text, ",");

        if (len)
            json_array_append_new(list, json_stringn(text, len));
        text += len + (text[len] == ',');
    }
    return list;
}

static json_t *join(const json_t *list) {
    char text[4096] = "";
    const json_t *item;
    size_t i, used = 0;

    json_array_foreach(list, i, item) {
        int n = snprintf(text + used, sizeof(text) - used, "%s%s", i ? "," : "",
                         json_string_value(item));

        if (n < 0 || used + (size_t)n >= sizeof(text))
            break;
        used += (size_t)n;
    }
    text[used] = '\0';
    return json_string(text);
}

/* ---- policies ---- */

/* Names of members are taken in any case. */
static const char *text_in_any_case(const json_t *object, const char *name) {
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)object, key, value) {
        if (!strcasecmp(key, name) && json_is_string(value))
            return json_string_value(value);
    }
    return "";
}

/* "TCP", "tcp" or 6. */
static json_t *protocol_to_v2(const char *text) {
    for (size_t i = 0; text && protocols[i].name; i++) {
        if (!strcasecmp(text, protocols[i].name))
            return json_integer(protocols[i].number);
    }
    return NULL;
}

static const char *renamed(const struct model_rename *renames, const char *name, bool to_v2) {
    for (; renames && renames->v1; renames++)
        if (!strcasecmp(name, to_v2 ? renames->v1 : renames->v2) && (to_v2 || !renames->one_way))
            return to_v2 ? renames->v2 : renames->v1;
    return name;
}

/* What version 1 has as a number is a text in the list that version 2 has instead. */
static void set_renamed(json_t *settings, const char *name, bool is_renamed, json_t *value) {
    char text[24];

    if (is_renamed && json_is_integer(value)) {
        (void)snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(value));
        json_object_set_new(settings, name, json_string(text));
    } else {
        json_object_set(settings, name, value);
    }
}

static json_t *settings_to_v2(const struct model_policy *row, const json_t *flat) {
    json_t *settings = json_object(), *value;
    const char *key;

    json_object_foreach((json_t *)flat, key, value) {
        const char *name = renamed(row->renames, key, true);

        json_t *protocol = strcmp(row->type, "PortMapping") || strcasecmp(key, "Protocol")
                               ? NULL
                               : protocol_to_v2(json_string_value(value));

        if (protocol)
            json_object_set_new(settings, name, protocol);
        else if (*name && strcasecmp(key, "Type"))
            set_renamed(settings, name, strcasecmp(name, key) != 0, value);
    }
    return settings;
}

static int policy_to_v2(struct hns_model *m, const json_t *flat, json_t **ret) {
    const struct model_policy *row = model_endpoint_policies;
    const char *type = text_in_any_case(flat, "Type");
    json_t *framed;
    int r;

    while (row->type && (!row->v1 || strcasecmp(row->v1, type)))
        row++;
    if (!row->type)
        return model_fail(m, HR_POLICY_TYPE, "'%.80s'", type);
    framed = json_pack("{s:s, s:o}", "Type", row->type, "Settings", settings_to_v2(row, flat));
    r = model_take_policy(m, model_endpoint_policies, "Policies", framed, ret);
    json_decref(framed);
    return r;
}

static int policies_to_v2(struct hns_model *m, const json_t *flat, json_t **ret) {
    json_t *list = json_array(), *item;

    for (size_t i = 0; i < json_array_size(flat); i++) {
        if (policy_to_v2(m, json_array_get(flat, i), &item)) {
            json_decref(list);
            return -1;
        }
        json_array_append_new(list, item);
    }
    *ret = list;
    return 0;
}

static json_t *policy_to_v1(const json_t *policy) {
    const struct model_policy *row = model_endpoint_policies;
    json_t *flat, *value;
    const char *key;

    while (row->type && strcmp(row->type, model_text(policy, "Type")))
        row++;
    flat = json_pack("{s:s}", "Type", row->v1 ? row->v1 : model_text(policy, "Type"));
    json_object_foreach(json_object_get(policy, "Settings"), key, value) {
        json_object_set(flat, renamed(row->renames, key, false), value);
    }
    for (size_t i = 0; row->type && !strcmp(row->type, "PortMapping") && protocols[i].name; i++)
        if ((int)model_number(flat, "Protocol") == protocols[i].number)
            json_object_set_new(flat, "Protocol", json_string(protocols[i].name));
    return flat;
}

/* ---- networks ---- */

static json_t *subnet_to_v1(const json_t *subnet) {
    json_t *policies = json_array(), *policy;
    size_t i;

    json_array_foreach(json_object_get(subnet, "Policies"), i, policy) {
        const char *type = model_text(policy, "Type");

        json_array_append_new(
            policies,
            json_pack("{s:s, s:O}", "Type", type, type,
                      json_object_get(json_object_get(policy, "Settings"), "IsolationId")));
    }
    return json_pack("{s:s, s:s, s:o}", "AddressPrefix", model_text(subnet, "IpAddressPrefix"),
                     "GatewayAddress", model_subnet_gateway(subnet), "Policies", policies);
}

static json_t *extensions_to_v1(const json_t *policies) {
    json_t *list = json_array();
    const json_t *policy;
    size_t i;

    json_array_foreach(policies, i, policy) {
        const json_t *settings = json_object_get(policy, "Settings");

        if (!strcmp(model_text(policy, "Type"), "VSwitchExtension"))
            json_array_append_new(
                list, json_pack("{s:s, s:b}", "Id", model_text(settings, "ExtensionID"),
                                "IsEnabled", json_is_true(json_object_get(settings, "Enable"))));
    }
    return list;
}

/* The switch's MAC: as given, else its adapter's. */
static void show_source_mac(const struct hns_model *m, const json_t *network, json_t *v1) {
    const json_t *policy =
        model_policy_find(json_object_get(network, "Policies"), "SourceMacAddress");
    const json_t *adapter = model_adapter_find(m, model_text(network, "_adapter"));
    json_t *mac = policy ? json_object_get(json_object_get(policy, "Settings"), "SourceMacAddress")
                         : json_object_get(adapter, "mac");

    if (mac)
        json_object_set(v1, "SourceMac", mac);
}

json_t *model_v1_network(const struct hns_model *m, const json_t *network) {
    const json_t *policies = json_object_get(network, "Policies"), *subnet, *policy;
    json_t *subnets = json_array(), *v1;
    char ip4[46], ip6[46];

    for (size_t i = 0; (subnet = model_subnet_at(network, i)); i++)
        json_array_append_new(subnets, subnet_to_v1(subnet));
    v1 = json_pack("{s:s, s:s, s:s, s:[], s:o, s:s, s:i, s:O, s:o}", "ID",
                   model_text(network, "ID"), "Name", model_text(network, "Name"), "Type",
                   model_text(network, "Type"), "Policies", "Subnets", subnets, "ManagementIP",
                   model_management_ip(m, network, 4, ip4), "State", STATE_CREATED, "MacPools",
                   json_object_get(json_object_get(network, "MacPool"), "Ranges"), "DNSServerList",
                   join(json_object_get(json_object_get(network, "Dns"), "ServerList")));
    if (*model_management_ip(m, network, 6, ip6))
        json_object_set_new(v1, "ManagementIPv6", json_string(ip6));
    if ((policy = model_policy_find(policies, "NetAdapterName")))
        json_object_set(v1, "NetworkAdapterName",
                        json_object_get(json_object_get(policy, "Settings"), "NetworkAdapterName"));
    if ((policy = model_policy_find(policies, "DrMacAddress")))
        json_object_set(v1, "DrMacAddress",
                        json_object_get(json_object_get(policy, "Settings"), "Address"));
    if (model_policy_find(policies, "VSwitchExtension"))
        json_object_set_new(v1, "Extensions", extensions_to_v1(policies));
    show_source_mac(m, network, v1);
    return v1;
}

static int subnet_to_v2(struct hns_model *m, const json_t *v1, json_t **ret) {
    static const struct model_field flat[] = {{.name = "Type", .type = T_STRING, .required = true},
                                              {.name = "VSID", .type = T_UINT, .max = 16777215},
                                              {.name = "VLAN", .type = T_UINT, .max = 4094},
                                              {0}};
    const char *gateway = model_text(v1, "GatewayAddress");
    json_t *policies = json_array(), *policy, *taken, *framed;
    size_t i;
    int r = 0;

    json_array_foreach(json_object_get(v1, "Policies"), i, policy) {
        r = model_take(m, flat, "Subnets.Policies", policy, &taken);
        if (r)
            break;
        framed = json_pack(
            "{s:O, s:{s:O?}}", "Type", json_object_get(taken, "Type"), "Settings", "IsolationId",
            json_object_get(taken,
                            strcasecmp(model_text(taken, "Type"), "VLAN") ? "VSID" : "VLAN"));
        json_decref(taken);
        r = model_take_policy(m, model_subnet_policies, "Subnets.Policies", framed, &policy);
        json_decref(framed);
        if (r)
            break;
        json_array_append_new(policies, policy);
    }
    *ret = json_pack("{s:s, s:o}", "IpAddressPrefix", model_text(v1, "AddressPrefix"), "Policies",
                     policies);
    if (*gateway)
        json_object_set_new(*ret, "Routes",
                            json_pack("[{s:s, s:s}]", "NextHop", gateway, "DestinationPrefix",
                                      strchr(gateway, ':') ? "::/0" : "0.0.0.0/0"));
    if (r)
        json_decref(*ret);
    return r;
}

static void network_policies_to_v2(const json_t *v1, json_t *policies) {
    static const char *const names[][3] = {
        {"NetworkAdapterName", "NetAdapterName", "NetworkAdapterName"},
        {"SourceMac", "SourceMacAddress", "SourceMacAddress"},
        {"AutomaticDNS", "AutomaticDNS", "Enable"},
    };
    json_t *extensions = json_object_get(v1, "Extensions");
    const json_t *extension;
    size_t k;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        json_t *value = json_object_get(v1, names[i][0]);

        if (value && !(json_is_string(value) && !json_string_length(value)))
            json_array_append_new(policies, json_pack("{s:s, s:{s:O}}", "Type", names[i][1],
                                                      "Settings", names[i][2], value));
    }
    json_array_foreach(extensions, k, extension) model_v1_set_extension(policies, extension);
}

/* Reads a version 1 network document: the answer is a taken v2 document. */
int model_v1_to_network(struct hns_model *m, const json_t *v1, json_t **ret) {
    json_t *taken, *subnets = json_array(), *policies = json_array(), *subnet, *given;
    size_t i;
    int r;

    if (model_take(m, model_v1_network_schema, "", v1, &taken)) {
        json_decref(subnets);
        json_decref(policies);
        return -1;
    }
    network_policies_to_v2(taken, policies);
    r = 0;
    json_array_foreach(json_object_get(taken, "Subnets"), i, given) {
        r = subnet_to_v2(m, given, &subnet);
        if (r)
            break;
        json_array_append_new(subnets, subnet);
    }
    *ret = json_pack("{s:{s:i, s:i}, s:O, s:s, s:O*, s:O*, s:o, s:{s:o}}", "SchemaVersion", "Major",
                     2, "Minor", 0, "Name", json_object_get(taken, "Name"), "ID",
                     model_text(taken, "ID"), "Type", json_object_get(taken, "Type"), "Flags",
                     json_object_get(taken, "Flags"), "Policies", policies, "Dns", "ServerList",
                     split(model_text(taken, "DNSServerList")));
    if (json_array_size(subnets))
        json_object_set_new(*ret, "Ipams",
                            json_pack("[{s:s, s:O}]", "Type", "Static", "Subnets", subnets));
    if (json_object_get(taken, "MacPools"))
        json_object_set_new(*ret, "MacPool",
                            json_pack("{s:O}", "Ranges", json_object_get(taken, "MacPools")));
    json_decref(subnets);
    json_decref(taken);
    if (r)
        json_decref(*ret);
    return r;
}

/* ---- endpoints ---- */

static void show_addresses(const json_t *endpoint, json_t *v1) {
    const json_t *config;
    size_t i;

    json_array_foreach(json_object_get(endpoint, "IpConfigurations"), i, config) {
        bool v6 = strchr(model_text(config, "IpAddress"), ':') != NULL;
        const char *name = v6 ? "IPv6Address" : "IPAddress";

        if (json_object_get(v1, name))
            continue;
        json_object_set(v1, name, json_object_get(config, "IpAddress"));
        json_object_set(v1, v6 ? "IPv6PrefixLength" : "PrefixLength",
                        json_object_get(config, "PrefixLength"));
    }
}

json_t *model_v1_endpoint(const struct hns_model *m, const json_t *endpoint) {
    const json_t *dns = json_object_get(endpoint, "Dns"), *policy;
    const json_t *attached = json_object_get(endpoint, "_attached");
    const json_t *search = json_object_get(dns, "Search");
    const char *network_id = model_text(endpoint, "HostComputeNetwork");
    json_t *policies = json_array(), *v1;
    size_t i;

    json_array_foreach(json_object_get(endpoint, "Policies"), i, policy)
        json_array_append_new(policies, policy_to_v1(policy));
    v1 = json_pack("{s:s, s:s, s:s, s:s, s:o, s:s, s:o, s:o, s:s, s:i}", "ID",
                   model_text(endpoint, "ID"), "Name", model_text(endpoint, "Name"),
                   "VirtualNetwork", network_id, "VirtualNetworkName",
                   model_text(json_object_get(m->objects[NETWORK], network_id), "Name"), "Policies",
                   policies, "MacAddress", model_text(endpoint, "MacAddress"), "DNSSuffix",
                   json_array_size(search) ? join(search) : json_string(model_text(dns, "Domain")),
                   "DNSServerList", join(json_object_get(dns, "ServerList")), "GatewayAddress",
                   model_text(json_array_get(json_object_get(endpoint, "Routes"), 0), "NextHop"),
                   "State", attached ? (int)model_number(attached, "State") : STATE_CREATED);
    show_addresses(endpoint, v1);
    json_object_set_new(v1, "SharedContainers",
                        attached ? json_deep_copy(json_object_get(attached, "Ids")) : json_array());
    if (model_endpoint_is_remote(endpoint))
        json_object_set_new(v1, "IsRemoteEndpoint", json_true());
    return v1;
}

static json_t *addresses_to_v2(const json_t *v1) {
    static const char *const names[][2] = {{"IPAddress", "PrefixLength"},
                                           {"IPv6Address", "IPv6PrefixLength"}};
    json_t *configs = json_array();

    for (size_t i = 0; i < 2; i++) {
        json_t *length = json_object_get(v1, names[i][1]);

        if (*model_text(v1, names[i][0]))
            json_array_append_new(configs,
                                  json_pack("{s:s, s:O*}", "IpAddress", model_text(v1, names[i][0]),
                                            "PrefixLength", length));
    }
    return configs;
}

static json_t *routes_to_v2(const json_t *v1) {
    static const char *const names[][2] = {{"GatewayAddress", "0.0.0.0/0"},
                                           {"GatewayAddressV6", "::/0"}};
    json_t *routes = json_array();

    for (size_t i = 0; i < 2; i++)
        if (*model_text(v1, names[i][0]))
            json_array_append_new(routes,
                                  json_pack("{s:s, s:s}", "NextHop", model_text(v1, names[i][0]),
                                            "DestinationPrefix", names[i][1]));
    return routes;
}

static json_t *dns_to_v2(const json_t *v1) {
    json_t *dns = json_pack("{s:o, s:o}", "ServerList", split(model_text(v1, "DNSServerList")),
                            "Search", split(model_text(v1, "DNSSuffix")));

    if (*model_text(v1, "DNSDomain"))
        json_object_set(dns, "Domain", json_object_get(v1, "DNSDomain"));
    return dns;
}

int model_v1_to_endpoint(struct hns_model *m, const json_t *v1, json_t **ret) {
    json_t *taken, *policies;
    int flags;

    if (model_take(m, model_v1_endpoint_schema, "", v1, &taken))
        return -1;
    if (policies_to_v2(m, json_object_get(taken, "Policies"), &policies)) {
        json_decref(taken);
        return -1;
    }
    flags = (json_is_true(json_object_get(taken, "IsRemoteEndpoint")) ? 1 : 0) |
            (json_is_true(json_object_get(taken, "DisableICC")) ? 2 : 0) |
            (json_is_true(json_object_get(taken, "EnableLowMetric")) ? 8 : 0);
    *ret = json_pack("{s:{s:i, s:i}, s:s, s:s, s:s, s:s, s:i, s:o, s:o, s:o, s:o}", "SchemaVersion",
                     "Major", 2, "Minor", 0, "ID", model_text(taken, "ID"), "Name",
                     model_text(taken, "Name"), "HostComputeNetwork",
                     model_text(taken, "VirtualNetwork"), "MacAddress",
                     model_text(taken, "MacAddress"), "Flags", flags, "Policies", policies, "Dns",
                     dns_to_v2(taken), "IpConfigurations", addresses_to_v2(taken), "Routes",
                     routes_to_v2(taken));
    json_decref(taken);
    return 0;
}
