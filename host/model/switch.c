/* What happens to a server's adapters when HNS makes and removes external switches. */
#include "host/model/model.h"

/* Network types that bind an adapter (HCN schema, NetworkType). */
static bool is_external(const char *type) {
    static const char *const types[] = {"L2Bridge", "L2Tunnel", "Overlay", "Transparent"};

    for (size_t i = 0; i < ARRAY_SIZE(types); i++)
        if (text_equal_nocase(type, types[i]))
            return true;
    return false;
}

/* The adapter that a network document names (v2 policy, v1 member), or the first one. */
static const char *adapter_of(json_t *state, const json_t *network) {
    const char *name = json_text_at(network, "NetworkAdapterName");

    json_each(json_object_get(network, "Policies"), i, policy)
        if (text_equal_nocase(json_text_at(policy, "Type"), "NetAdapterName"))
            name = json_text_at(policy, "Settings.NetworkAdapterName");
    return name && *name ? name : json_text_at(state, "adapters.0.alias");
}

/* Those that come along: what DHCP gave, and IPv6 that a router advertises. */
static json_t *moved_addresses(const json_t *from, bool dhcp) {
    json_t *moved = json_array();

    json_each(json_object_get(from, "addresses"), i, item) {
        bool v6 = strchr(json_string_value(item), ':') != NULL;

        if (v6 ? json_has_text(json_object_get(from, "advertised"), json_string_value(item)) : dhcp)
            json_array_append(moved, item);
    }
    if (!dhcp)
        json_array_append_new(moved, json_string("169.254.77.7/16"));
    return moved;
}

/* Moves address, gateways, DNS servers and routes from one adapter to the other, as DHCP brings
 * them back; what was set by hand does not come along, nor does the metric. */
static void move_addresses(json_t *state, json_t *from, json_t *to) {
    static const char *const members[] = {"gateways", "dnsServers"};
    bool dhcp = json_bool_at(from, "dhcp", false);
    json_t *routes = json_object_get(state, "routes");

    json_object_set_new(to, "addresses", moved_addresses(from, dhcp));
    json_object_set_new(from, "addresses", json_array());
    json_object_del(to, "metric");
    json_object_del(to, "metric6");
    for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
        json_object_set_new(to, members[i],
                            dhcp ? json_deep_copy(json_object_get(from, members[i]))
                                 : json_array());
        json_object_set_new(from, members[i], json_array());
    }
    for (size_t i = json_array_size(routes); i-- > 0;) {
        json_t *route = json_array_get(routes, i);

        if (json_number_at(route, "interfaceIndex", -1) != json_number_at(from, "index", -2))
            continue;
        if (dhcp)
            json_object_set(route, "interfaceIndex", json_object_get(to, "index"));
        else
            json_array_remove(routes, i);
    }
}

static void make_vnic(json_t *state, const char *alias) {
    _cleanup_(freep) char *name = xasprintf("vEthernet (%s)", alias);
    json_t *adapter = model_adapter_by_alias(state, alias);
    json_t *vnic;

    if (!adapter || model_adapter_by_alias(state, name))
        return;
    vnic = json_deep_copy(adapter);
    json_object_set_new(vnic, "alias", json_string(name));
    json_object_set_new(vnic, "description", json_string("Hyper-V Virtual Ethernet Adapter"));
    json_object_set_new(vnic, "index", json_integer(json_number_at(adapter, "index", 0) + 16));
    json_object_set_new(vnic, "forwarding", json_false());
    json_array_append_new(json_object_get(state, "adapters"), vnic);
    move_addresses(state, adapter, vnic);
}

static void remove_vnic(json_t *state, const char *alias) {
    _cleanup_(freep) char *name = xasprintf("vEthernet (%s)", alias);
    json_t *adapter = model_adapter_by_alias(state, alias);
    json_t *vnic = model_adapter_by_alias(state, name);
    json_t *adapters = json_object_get(state, "adapters");

    if (!vnic)
        return;
    if (adapter)
        move_addresses(state, vnic, adapter);
    for (size_t i = json_array_size(adapters); i-- > 0;)
        if (json_array_get(adapters, i) == vnic)
            json_array_remove(adapters, i);
}

void model_switch_network_made(json_t *state, const char *id, const json_t *network) {
    _cleanup_(freep) char *key = text_lower(id);
    const char *alias;

    if (!is_external(json_text_at(network, "Type")))
        return;
    alias = adapter_of(state, network);
    if (!alias)
        return;
    json_object_set_new(json_at(state, "hns.external"), key, json_string(alias));
    make_vnic(state, alias);
}

static void remove_adapters(json_t *state, const char *of, const char *id) {
    json_t *adapters = json_object_get(state, "adapters");

    for (size_t i = json_array_size(adapters); i-- > 0;)
        if (text_equal_nocase(json_text_at(json_array_get(adapters, i), of), id))
            json_array_remove(adapters, i);
}

void model_switch_network_gone(json_t *state, const char *id) {
    json_t *external = json_at(state, "hns.external");
    _cleanup_(freep) char *key = text_lower(id);
    _cleanup_(freep) char *alias = xstrdup_null(json_text_at(external, key));

    remove_adapters(state, "network", id); /* of its endpoints */
    if (!alias)
        return;
    json_object_del(external, key);
    json_each_member(external, other, its_alias)
        if (text_equal_nocase(json_string_value(its_alias), alias))
            return;
    remove_vnic(state, alias);
}

void model_switch_endpoint_attached(json_t *state, const json_t *v1_endpoint) {
    const char *id = json_text_at(v1_endpoint, "ID");
    const char *address = json_text_at(v1_endpoint, "IPAddress");
    const char *address6 = json_text_at(v1_endpoint, "IPv6Address");
    _cleanup_(freep) char *alias =
        xasprintf("vEthernet (%s)", json_text_or(v1_endpoint, "Name", ""));
    _cleanup_(freep) char *prefix = NULL;
    json_t *adapters = json_object_get(state, "adapters");
    long long index = 40 + (long long)json_array_size(adapters);

    if (!id || !address || model_adapter_by_alias(state, alias))
        return;
    prefix = xasprintf("%s/%lld", address, json_number_at(v1_endpoint, "PrefixLength", 24));
    json_t *addresses = json_pack("[s]", prefix);
    if (address6)
        json_array_append_new(
            addresses,
            json_sprintf("%s/%lld", address6, json_number_at(v1_endpoint, "IPv6PrefixLength", 64)));
    json_array_append_new(
        adapters, json_pack("{s:s, s:s, s:s, s:I, s:i, s:b, s:b, s:b, s:o, s:[], s:[], s:s, s:s*}",
                            "alias", alias, "description", "Hyper-V Virtual Ethernet Adapter",
                            "mac", json_text_or(v1_endpoint, "MacAddress", ""), "index",
                            (json_int_t)index, "mtu", 1500, "up", 1, "dhcp", 0, "forwarding", 0,
                            "addresses", addresses, "gateways", "dnsServers", "endpoint", id,
                            "network", json_text_at(v1_endpoint, "VirtualNetwork")));
}

void model_switch_endpoint_gone(json_t *state, const char *id) {
    remove_adapters(state, "endpoint", id);
}
