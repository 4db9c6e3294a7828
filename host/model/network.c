/* Adapters, routes and ports of a modelled server. */
#include "base/cidr.h"
#include "host/model/model.h"

static void read_adapter(const json_t *json, struct host_adapter *ret) {
    ret->alias = xstrdup(json_text_or(json, "alias", ""));
    ret->description = xstrdup_null(json_text_at(json, "description"));
    (void)text_format(ret->mac, sizeof ret->mac, "%s",
                      json_text_or(json, "mac", "")); /* no MAC: none */
    ret->index = (uint32_t)json_number_at(json, "index", 0);
    ret->mtu = (uint32_t)json_number_at(json, "mtu", 1500);
    ret->up = json_bool_at(json, "up", true);
    ret->dhcp = json_bool_at(json, "dhcp", false);
    ret->metric = (uint32_t)json_number_at(json, "metric", 0);
    ret->metric6 = (uint32_t)json_number_at(json, "metric6", 0);
    json_read_texts(json_object_get(json, "addresses"), &ret->addresses);
    json_read_texts(json_object_get(json, "advertised"), &ret->advertised);
    json_read_texts(json_object_get(json, "gateways"), &ret->gateways);
    json_read_texts(json_object_get(json, "dnsServers"), &ret->dns_servers);
}

void model_adapters(json_t *state, struct host_adapters *ret) {
    const json_t *adapters = json_object_get(state, "adapters");

    ret->count = json_array_size(adapters);
    ret->items = xcalloc(ret->count + 1, sizeof *ret->items);
    json_each(adapters, i, adapter)
        read_adapter(adapter, &ret->items[i]);
}

static json_t *adapter_by_index(json_t *state, uint32_t index) {
    json_each(json_object_get(state, "adapters"), i, adapter)
        if (json_number_at(adapter, "index", -1) == (long long)index)
            return adapter;
    return NULL;
}

json_t *model_adapter_by_alias(json_t *state, const char *alias) {
    json_each(json_object_get(state, "adapters"), i, adapter)
        if (text_equal_nocase(json_text_at(adapter, "alias"), alias))
            return adapter;
    return NULL;
}

static json_t *need_adapter(json_t *state, uint32_t index, struct error *err) {
    json_t *adapter = adapter_by_index(state, index);

    if (!adapter)
        (void)error_set_os(err, ERROR_ABSENT, 1168, "interface %u: no such interface", index);
    return adapter;
}

void model_routes(json_t *state, struct host_routes *ret) {
    const json_t *routes = json_object_get(state, "routes");

    ret->count = json_array_size(routes);
    ret->items = xcalloc(ret->count + 1, sizeof *ret->items);
    json_each(routes, i, route) {
        struct host_route *r = &ret->items[i];

        (void)text_format(r->destination, sizeof r->destination, "%s",
                          json_text_at(route, "destination")); /* checked when it was added */
        (void)text_format(r->next_hop, sizeof r->next_hop, "%s", json_text_at(route, "nextHop"));
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

/* Position of the same route (destination, next hop, interface), or the number of routes. */
static size_t find_route(const json_t *routes, const struct host_route *route) {
    json_each(routes, i, item)
        if (text_equal(json_text_at(item, "destination"), route->destination) &&
            text_equal(json_text_at(item, "nextHop"), route->next_hop) &&
            json_number_at(item, "interfaceIndex", -1) == (long long)route->interface_index)
            return i;
    return json_array_size(routes);
}

/* Windows tells the next hops of default routes as the adapter's gateways. */
static void follow_default_route(json_t *state, const struct host_route *route) {
    json_t *adapter = adapter_by_index(state, route->interface_index);
    _cleanup_json_ json_t *gateways = json_array();

    json_each(json_object_get(state, "routes"), i, other)
        if (json_number_at(other, "interfaceIndex", -1) == (long long)route->interface_index &&
            text_equal(json_text_at(other, "destination"), "0.0.0.0/0"))
            json_array_append(gateways, json_object_get(other, "nextHop"));
    if (adapter)
        json_object_set(adapter, "gateways", gateways);
}

int model_route_add(json_t *state, const struct host_route *route, struct error *err) {
    json_t *routes = json_object_get(state, "routes");

    if (!need_adapter(state, route->interface_index, err))
        return error_prefix(err, "add route to '%s'", route->destination);
    if (find_route(routes, route) < json_array_size(routes))
        return 0;
    json_array_append_new(routes, json_pack("{s:s, s:s, s:I, s:I}", "destination",
                                            route->destination, "nextHop", route->next_hop,
                                            "interfaceIndex", (json_int_t)route->interface_index,
                                            "metric", (json_int_t)route->metric));
    follow_default_route(state, route);
    return 0;
}

void model_route_remove(json_t *state, const struct host_route *route) {
    json_t *routes = json_object_get(state, "routes");

    json_array_remove(routes, find_route(routes, route));
    follow_default_route(state, route);
}

int model_address_add(json_t *state, uint32_t index, const char *address, struct error *err) {
    json_t *adapter = need_adapter(state, index, err);
    json_t *addresses = json_object_get(adapter, "addresses");

    if (!adapter)
        return error_prefix(err, "add address '%s'", address);
    if (json_has_text(addresses, address))
        return 0;
    /* A configured address ends Windows' own choice of one. */
    for (size_t i = json_array_size(addresses); i-- > 0;)
        if (text_starts_with(json_string_value(json_array_get(addresses, i)), "169.254."))
            json_array_remove(addresses, i);
    json_array_append_new(addresses, json_string(address));
    json_object_set_new(adapter, "dhcp", json_false());
    return 0;
}

/* Takes the value. */
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

int model_metric_set(json_t *state, uint32_t index, int family, uint32_t metric,
                     struct error *err) {
    return set_member(state, index, "set the metric", family == 6 ? "metric6" : "metric",
                      json_integer(metric), err);
}

int model_forwarding_set(json_t *state, uint32_t index, int family, bool on, struct error *err) {
    return set_member(state, index, "set forwarding", family == 6 ? "forwarding6" : "forwarding",
                      json_boolean(on), err);
}

bool model_port_in_use(json_t *state, bool udp, unsigned port) {
    json_each(json_at(state, udp ? "ports.udp" : "ports.tcp"), i, item)
        if (json_integer_value(item) == (json_int_t)port)
            return true;
    return false;
}
