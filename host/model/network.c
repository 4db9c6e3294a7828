/* Simulates adapters, routes and ports of a server, and the changes of adapters when HNS creates
 * and removes external switches. */
#include "base/cidr.h"
#include "host/model/model.h"

void model_adapters(json_t *state, struct host_adapters *ret) {
    const json_t *adapters = json_object_get(state, "adapters");

    ret->count = json_array_size(adapters);
    ret->items = xcalloc(ret->count + 1, sizeof *ret->items);
    json_each(adapters, i, adapter) {
        ret->items[i].alias = xstrdup(json_text_or(adapter, "alias", ""));
        ret->items[i].description = xstrdup_null(json_text_at(adapter, "description"));
        (void)text_format(ret->items[i].mac, sizeof ret->items[i].mac, "%s",
                          json_text_or(adapter, "mac", "")); /* A missing MAC becomes "". */
        ret->items[i].index = (uint32_t)json_number_at(adapter, "index", 0);
        ret->items[i].mtu = (uint32_t)json_number_at(adapter, "mtu", 1500);
        ret->items[i].up = json_bool_at(adapter, "up", true);
        ret->items[i].dhcp = json_bool_at(adapter, "dhcp", false);
        ret->items[i].metric = (uint32_t)json_number_at(adapter, "metric", 0);
        ret->items[i].metric6 = (uint32_t)json_number_at(adapter, "metric6", 0);
        json_read_texts(json_object_get(adapter, "addresses"), &ret->items[i].addresses);
        json_read_texts(json_object_get(adapter, "advertised"), &ret->items[i].advertised);
        json_read_texts(json_object_get(adapter, "gateways"), &ret->items[i].gateways);
        json_read_texts(json_object_get(adapter, "dnsServers"), &ret->items[i].dns_servers);
    }
}

json_t *model_adapter_by_alias(json_t *state, const char *alias) {
    json_each(json_object_get(state, "adapters"), i, adapter)
        if (text_equal_nocase(json_text_at(adapter, "alias"), alias))
            return adapter;
    return NULL;
}

static json_t *need_adapter(json_t *state, uint32_t index, struct error *err) {
    json_each(json_object_get(state, "adapters"), i, adapter)
        if (json_number_at(adapter, "index", -1) == (long long)index)
            return adapter;
    (void)error_set_os(err, ERROR_ABSENT, 1168, "interface %u: no such interface", index);
    return NULL;
}

void model_routes(json_t *state, struct host_routes *ret) {
    const json_t *routes = json_object_get(state, "routes");

    ret->count = json_array_size(routes);
    ret->items = xcalloc(ret->count + 1, sizeof *ret->items);
    json_each(routes, i, route) {
        struct host_route *r = &ret->items[i];

        /* The state may be written by hand, and lack a member. */
        (void)text_format(r->destination, sizeof r->destination, "%s",
                          json_text_or(route, "destination", ""));
        (void)text_format(r->next_hop, sizeof r->next_hop, "%s",
                          json_text_or(route, "nextHop", ""));
        r->interface_index = (uint32_t)json_number_at(route, "interfaceIndex", 0);
        r->metric = (uint32_t)json_number_at(route, "metric", 0);
    }
}

void model_neighbors(json_t *state, struct host_neighbors *ret) {
    const json_t *neighbors = json_object_get(state, "neighbors");

    ret->count = json_array_size(neighbors);
    ret->items = xcalloc(ret->count + 1, sizeof *ret->items);
    json_each(neighbors, i, neighbor) {
        struct host_neighbor *n = &ret->items[i];
        const char *address = json_text_at(neighbor, "address"),
                   *mac = json_text_at(neighbor, "mac");

        (void)text_format(n->address, sizeof n->address, "%s", address ? address : "");
        (void)text_format(n->mac, sizeof n->mac, "%s", mac ? mac : "");
        n->fixed = json_bool_at(neighbor, "fixed", false);
    }
}

int model_route_set(json_t *state, const struct host_route *route, bool add, struct error *err) {
    json_t *routes = json_object_get(state, "routes");
    json_t *adapter = need_adapter(state, route->interface_index, add ? err : ERROR_IGNORED);
    _cleanup_json_ json_t *gateways = json_array();
    size_t at = json_array_size(routes);

    if (add && !adapter)
        return error_prefix(err, "add route to '%s'", route->destination);
    json_each(routes, i, item)
        if (at == json_array_size(routes) &&
            text_equal(json_text_at(item, "destination"), route->destination) &&
            text_equal(json_text_at(item, "nextHop"), route->next_hop) &&
            json_number_at(item, "interfaceIndex", -1) == (long long)route->interface_index)
            at = i;
    if (add && at < json_array_size(routes))
        return 0;
    if (add)
        json_array_append_new(
            routes, json_pack("{s:s, s:s, s:I, s:I}", "destination", route->destination, "nextHop",
                              route->next_hop, "interfaceIndex", (json_int_t)route->interface_index,
                              "metric", (json_int_t)route->metric));
    else
        json_array_remove(routes, at); /* This ignores an absent route. */

    /* Sets the adapter's gateways to its default routes' next hops, as Windows reports them. */
    json_each(routes, i, other)
        if (json_number_at(other, "interfaceIndex", -1) == (long long)route->interface_index &&
            text_equal(json_text_at(other, "destination"), "0.0.0.0/0"))
            json_array_append(gateways, json_object_get(other, "nextHop"));
    if (adapter)
        json_object_set(adapter, "gateways", gateways);
    return 0;
}

int model_address_add(json_t *state, uint32_t index, const char *address, struct error *err) {
    json_t *adapter = need_adapter(state, index, err);
    json_t *addresses = json_object_get(adapter, "addresses");

    if (!adapter)
        return error_prefix(err, "add address '%s'", address);
    if (json_has_text(addresses, address))
        return 0;
    /* Windows drops its automatic address when an address is configured. */
    for (size_t i = json_array_size(addresses); i-- > 0;)
        if (text_starts_with(json_string_value(json_array_get(addresses, i)), "169.254."))
            json_array_remove(addresses, i);
    json_array_append_new(addresses, json_string(address));
    json_object_set_new(adapter, "dhcp", json_false());
    return 0;
}

/* Sets a member of one adapter. Takes over the value. */
static int set_member(json_t *state, uint32_t index, const char *doing, const char *key,
                      json_t *value, struct error *err) {
    json_t *adapter = need_adapter(state, index, err);

    if (adapter)
        json_object_set_new(adapter, key, value);
    else
        json_decref(value);
    return adapter ? 0 : error_prefix(err, "%s", doing);
}

int model_dns_set(json_t *state, uint32_t index, const struct text_list *servers,
                  struct error *err) {
    return set_member(state, index, "set DNS servers", "dnsServers", json_texts(servers), err);
}

int model_forwarding(json_t *state, uint32_t index, int family, bool *ret, struct error *err) {
    const json_t *adapter = need_adapter(state, index, err);

    if (!adapter)
        return error_prefix(err, "read forwarding");
    *ret = json_bool_at(adapter, family == 6 ? "forwarding6" : "forwarding", false);
    return 0;
}

int model_interface_set(json_t *state, uint32_t index, int family, enum host_interface_value what,
                        uint32_t value, struct error *err) {
    if (what == HOST_INTERFACE_METRIC)
        return set_member(state, index, "set the metric", family == 6 ? "metric6" : "metric",
                          json_integer(value), err);
    return set_member(state, index, "set forwarding", family == 6 ? "forwarding6" : "forwarding",
                      json_boolean(value), err);
}

bool model_port_in_use(json_t *state, bool udp, unsigned port) {
    json_each(json_at(state, udp ? "ports.udp" : "ports.tcp"), i, item)
        if (json_integer_value(item) == (json_int_t)port)
            return true;
    return false;
}

/* ---- virtual switches ---- */

/* Moves addresses, gateways, DNS servers and routes from one adapter to the other. Only what DHCP
 * provides is kept; manual settings and the metrics are lost. */
static void move_addresses(json_t *state, json_t *from, json_t *to) {
    static const char *const members[] = {"gateways", "dnsServers"};
    bool dhcp = json_bool_at(from, "dhcp", false);
    json_t *routes = json_object_get(state, "routes"), *moved = json_array();

    /* Addresses from DHCP move, and IPv6 addresses from router advertisements. */
    json_each(json_object_get(from, "addresses"), i, item) {
        bool v6 = strchr(json_string_value(item), ':') != NULL;

        if (v6 ? json_has_text(json_object_get(from, "advertised"), json_string_value(item)) : dhcp)
            json_array_append(moved, item);
    }
    if (!dhcp)
        json_array_append_new(moved, json_string("169.254.77.7/16"));
    json_object_set_new(to, "addresses", moved);
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

void model_switch_network_made(json_t *state, const char *id, const json_t *network) {
    /* The network types that bind an adapter (NetworkType in the HCN schema). */
    static const char *const types[] = {"L2Bridge", "L2Tunnel", "Overlay", "Transparent"};
    _cleanup_(freep) char *key = text_lower(id), *vnic_alias = NULL;
    const char *alias, *name = json_text_at(network, "NetworkAdapterName");
    json_t *adapter, *vnic;
    bool external = false;

    for (size_t i = 0; i < ARRAY_SIZE(types); i++)
        external |= text_equal_nocase(json_text_at(network, "Type"), types[i]);
    if (!external)
        return;
    /* Find the adapter that the network document names (policy in version 2, member in version 1),
     * or take the first one. */
    json_each(json_object_get(network, "Policies"), i, policy)
        if (text_equal_nocase(json_text_at(policy, "Type"), "NetAdapterName"))
            name = json_text_at(policy, "Settings.NetworkAdapterName");
    alias = name && *name ? name : json_text_at(state, "adapters.0.alias");
    if (!alias)
        return;
    json_object_set_new(json_at(state, "hns.external"), key, json_string(alias));

    vnic_alias = xasprintf("vEthernet (%s)", alias);
    adapter = model_adapter_by_alias(state, alias);
    if (!adapter || model_adapter_by_alias(state, vnic_alias))
        return;
    vnic = json_deep_copy(adapter);
    json_object_set_new(vnic, "alias", json_string(vnic_alias));
    json_object_set_new(vnic, "description", json_string("Hyper-V Virtual Ethernet Adapter"));
    json_object_set_new(vnic, "index", json_integer(json_number_at(adapter, "index", 0) + 16));
    json_object_set_new(vnic, "forwarding", json_false());
    (void)json_object_del(vnic, "forwarding6"); /* Not there means false. */
    json_array_append_new(json_object_get(state, "adapters"), vnic);
    move_addresses(state, adapter, vnic);
}

void model_adapters_remove(json_t *state, const char *of, const char *id) {
    json_t *adapters = json_object_get(state, "adapters");

    for (size_t i = json_array_size(adapters); i-- > 0;)
        if (text_equal_nocase(json_text_at(json_array_get(adapters, i), of), id))
            json_array_remove(adapters, i);
}

void model_switch_network_gone(json_t *state, const char *id) {
    json_t *external = json_at(state, "hns.external"), *adapter, *vnic;
    _cleanup_(freep) char *key = text_lower(id), *name = NULL;
    _cleanup_(freep) char *alias = xstrdup_null(json_text_at(external, key));

    /* Remove the adapters of the network's endpoints. */
    model_adapters_remove(state, "network", id);
    if (!alias)
        return;
    json_object_del(external, key);
    json_each_member(external, other, its_alias)
        if (text_equal_nocase(json_string_value(its_alias), alias))
            return;
    name = xasprintf("vEthernet (%s)", alias);
    adapter = model_adapter_by_alias(state, alias);
    vnic = model_adapter_by_alias(state, name);
    if (vnic && adapter)
        move_addresses(state, vnic, adapter);
    model_adapters_remove(state, "alias", name);
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
