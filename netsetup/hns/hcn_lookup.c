/* Queries HNS and reads its answers. */
#include "netsetup/hns/hcn_network.h"

#include <limits.h>

static int copy_text(const json_t *json, const char *path, char *out, size_t size,
                     struct error *err) {
    json_t *value = json_at(json, path);
    if (!value || json_is_null(value))
        return 0;
    if (!json_is_string(value))
        return error_set(err, ERROR_MALFORMED, "decode HNS network: '%s' is not a string", path);
    if (text_format(out, size, "%s", json_string_value(value)) < 0)
        return error_set(err, ERROR_MALFORMED, "decode HNS network: '%s' is too long", path);
    return 0;
}

static int read_subnet(const json_t *subnet, struct hcn_network *network, struct error *err) {
    if (copy_text(subnet, "IpAddressPrefix", network->subnet, sizeof(network->subnet), err) < 0)
        return -1;
    json_each(json_object_get(subnet, "Policies"), i, item) {
        if (!text_equal_nocase(json_text_at(item, "Type"), "VSID"))
            continue;
        long long vsid = json_number_at(item, "Settings.IsolationId", 0);
        if (vsid < 0 || vsid > UINT_MAX)
            return error_set(err, ERROR_MALFORMED, "decode HNS network: VSID out of range");
        network->vsid = (unsigned)vsid;
    }
    json_each(json_object_get(subnet, "Routes"), i, item)
        if (text_equal(json_text_at(item, "DestinationPrefix"), "0.0.0.0/0"))
            return copy_text(item, "NextHop", network->gateway, sizeof(network->gateway), err);
    return 0;
}

/* Reads an IPv6 subnet; normalizes the spelling of its prefix and gateway, which differs in HNS. */
static int read_subnet6(const json_t *subnet, struct hcn_network *network, struct error *err) {
    struct cidr prefix = {0};
    struct ip gateway = {0};
    if (copy_text(subnet, "IpAddressPrefix", network->subnet6, CIDR_TEXT_MAX, err) < 0)
        return -1;
    if (cidr_parse(network->subnet6, &prefix, NULL) == 0)
        cidr_format(&prefix, network->subnet6);
    json_each(json_object_get(subnet, "Routes"), i, route) {
        if (!text_equal(json_text_at(route, "DestinationPrefix"), "::/0"))
            continue;
        if (copy_text(route, "NextHop", network->gateway6, IP_TEXT_MAX, err) < 0)
            return -1;
        if (ip_parse(network->gateway6, &gateway, NULL) == 0)
            ip_format(&gateway, network->gateway6);
    }
    return 0;
}

int hcn_network_parse(const json_t *json, struct hcn_network *ret, struct error *err) {
    struct hcn_network network = {0};
    const struct {
        const char *type, *path;
        char *into;
        size_t size;
    } policies[] = {
        {"NetAdapterName", "Settings.NetworkAdapterName", network.adapter, sizeof network.adapter},
        {"ProviderAddress", "Settings.ProviderAddress", network.provider_address,
         sizeof network.provider_address},
        {"DrMacAddress", "Settings.Address", network.router_mac, sizeof network.router_mac},
    };
    if (!json_is_object(json))
        return error_set(err, ERROR_MALFORMED, "decode HNS network: not an object");
    if (copy_text(json, "ID", network.id, sizeof(network.id), err) < 0 ||
        copy_text(json, "Name", network.name, sizeof(network.name), err) < 0 ||
        copy_text(json, "Type", network.type, sizeof(network.type), err) < 0 ||
        copy_text(json, "Owner", network.owner, sizeof(network.owner), err) < 0)
        return -1;
    /* NAT is the value 0 of the enumeration, and HNS leaves out zeros. */
    if (!*network.type)
        /* The text "NAT" always fits. */
        (void)text_format(network.type, sizeof(network.type), "NAT");
    json_each(json_object_get(json, "Policies"), i, policy)
        for (size_t k = 0; k < ARRAY_SIZE(policies); k++)
            if (text_equal_nocase(json_text_at(policy, "Type"), policies[k].type) &&
                copy_text(policy, policies[k].path, policies[k].into, policies[k].size, err) < 0)
                return -1;
    /* The first subnet is the IPv4 one, as winjoin writes it. A later one may be IPv6. */
    if (read_subnet(json_at(json, "Ipams.0.Subnets.0"), &network, err) < 0)
        return -1;
    json_each(json_at(json, "Ipams.0.Subnets"), i, subnet) {
        const char *prefix = json_text_at(subnet, "IpAddressPrefix");
        if (i && !*network.subnet6 && prefix && strchr(prefix, ':') &&
            read_subnet6(subnet, &network, err) < 0)
            return -1;
    }
    *ret = network;
    return 0;
}

bool hcn_network_is_ours(const struct hcn_network *network) {
    return text_equal(network->owner, HCN_OWNER);
}

int hcn_add(struct host *host, enum hcn_kind kind, const char *id, json_t *list,
            struct error *err) {
    _cleanup_(freep) char *properties = NULL;
    struct error query_err = {0};
    json_t *json = NULL;
    /* An object that is absent was deleted after the enumeration. */
    if (hcn_query(host, kind, id, NULL, &properties, &query_err) < 0)
        return query_err.kind == ERROR_ABSENT ? 0 : error_pass(err, &query_err);
    if (json_read(properties, strlen(properties), "HNS object", &json, err) < 0)
        return -1;
    json_array_append_new(list, json);
    return 0;
}

int hcn_ids(struct host *host, enum hcn_kind kind, const char *key, const char *value, json_t **ret,
            struct error *err) {
    _cleanup_json_ json_t *query = key ? hcn_query_json(key, value) : NULL, *ids = NULL;
    _cleanup_(freep) char *query_text = query ? json_write(query) : NULL, *text = NULL;

    if (hcn_enumerate(host, kind, query_text, &text, err) < 0 ||
        json_read(text, strlen(text), "list of HNS IDs", &ids, err) < 0)
        return -1;
    json_each(ids, i, id)
        if (!json_is_string(id))
            return error_set(err, ERROR_MALFORMED, "decode list of HNS IDs: not a list of strings");
    *ret = take_ptr(ids);
    return 0;
}

int hcn_list(struct host *host, enum hcn_kind kind, const char *key, const char *value,
             json_t **ret, struct error *err) {
    _cleanup_json_ json_t *ids = NULL, *list = json_array();

    if (hcn_ids(host, kind, key, value, &ids, err) < 0)
        return -1;
    json_each(ids, i, id)
        if (hcn_add(host, kind, json_string_value(id), list, err) < 0)
            return -1;
    *ret = take_ptr(list);
    return 0;
}

int hcn_network_find_json(struct host *host, const char *name, struct hcn_network *ret,
                          json_t **ret_json, struct error *err) {
    _cleanup_json_ json_t *list = NULL;
    if (hcn_list(host, HCN_NETWORK, "Name", name, &list, err) < 0)
        return error_prefix(err, "look up HNS network '%s'", name);
    json_each(list, i, json) {
        if (!text_equal(json_text_at(json, "Name"), name))
            continue;
        if (hcn_network_parse(json, ret, err) < 0)
            return -1;
        if (ret_json)
            *ret_json = json_incref(json);
        return 0;
    }
    return error_set(err, ERROR_ABSENT, "no HNS network '%s'", name);
}

int hcn_network_find(struct host *host, const char *name, struct hcn_network *ret,
                     struct error *err) {
    return hcn_network_find_json(host, name, ret, NULL, err);
}
