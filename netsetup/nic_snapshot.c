/* An adapter's settings, kept in memory and in the journal. */
#include "netsetup/nic_snapshot.h"

/* Windows makes these itself from an address: its own subnet's, the address's, multicast,
 * broadcast. IPv6: all that are on link, and a router's advertisement brings the default route. */
static bool made_by_windows(const struct host_route *route, const struct nic_snapshot *snapshot,
                            bool advertised) {
    struct cidr destination = {0}, own = {0}, multicast = {0};
    if (cidr_parse(route->destination, &destination, NULL) < 0)
        return true;
    if (destination.base.family == 6)
        return text_equal(route->next_hop, "::") ||
               (advertised && text_starts_with(route->next_hop, "fe80:"));
    if (!text_equal(route->next_hop, "0.0.0.0"))
        return false;
    if (cidr_parse("224.0.0.0/3", &multicast, NULL) == 0 &&
        cidr_contains_cidr(&multicast, &destination))
        return true;
    for (size_t i = 0; i < snapshot->addresses.count; i++)
        if (cidr_parse(snapshot->addresses.items[i], &own, NULL) == 0 &&
            cidr_contains_cidr(&own, &destination))
            return true;
    return false;
}

/* The node's is the first that other nodes reach; those set by hand are kept. */
static void take_addresses6(const struct host_adapter *current, struct nic_snapshot *snapshot) {
    for (size_t i = 0; i < current->addresses.count; i++) {
        const char *address = current->addresses.items[i];
        _cleanup_(freep) char *text = xstrndup(address, strcspn(address, "/"));
        struct ip ip;
        if (ip_parse(text, &ip, NULL) < 0 || ip.family != 6 || ip_is_link_local(&ip) ||
            ip_is_loopback(&ip))
            continue;
        if (!*snapshot->address6)
            (void)text_format(snapshot->address6, CIDR_TEXT_MAX, "%s", address); /* it parsed */
        if (!text_list_has(&current->advertised, address))
            text_list_add(&snapshot->addresses6, address);
    }
}

static void take_addresses(const struct host_adapter *current, const char *node_ip,
                           struct nic_snapshot *snapshot) {
    for (size_t i = 0; i < current->addresses.count; i++) {
        const char *address = current->addresses.items[i];
        if (!nic_usable_address(address))
            continue;
        text_list_add(&snapshot->addresses, address);
        if (!*snapshot->address && (!node_ip || nic_same_address(address, node_ip)))
            (void)text_format(snapshot->address, CIDR_TEXT_MAX, "%s", address); /* it parsed */
    }
    for (size_t i = 0; i < current->gateways.count; i++)
        if (nic_usable_address(current->gateways.items[i]))
            text_list_add(&snapshot->gateways, current->gateways.items[i]);
    for (size_t i = 0; i < current->dns_servers.count; i++)
        text_list_add(&snapshot->dns_servers, current->dns_servers.items[i]);
}

void nic_snapshot_take(const struct host_adapter *current, const struct host_adapter *physical,
                       const struct host_routes *routes, const char *node_ip,
                       struct nic_snapshot *ret) {
    struct nic_snapshot snapshot = {.mtu = current->mtu,
                                    .dhcp = current->dhcp,
                                    .metric = current->metric,
                                    .metric6 = current->metric6};
    snapshot.alias = xstrdup(physical->alias);
    snapshot.current_alias = xstrdup(current->alias);
    snapshot.has_switch = nic_is_virtual_alias(current->alias);
    (void)text_format(snapshot.mac, sizeof(snapshot.mac), "%s", current->mac); /* same size */
    take_addresses(current, node_ip, &snapshot);
    take_addresses6(current, &snapshot);
    for (size_t i = 0; i < routes->count; i++)
        if (routes->items[i].interface_index == current->index &&
            !made_by_windows(&routes->items[i], &snapshot, current->advertised.count != 0))
            array_add(snapshot.routes.items, snapshot.routes.count, routes->items[i]);
    *ret = snapshot;
}

void nic_snapshot_free(struct nic_snapshot *snapshot) {
    if (!snapshot)
        return;
    free(snapshot->alias);
    free(snapshot->current_alias);
    text_list_free(&snapshot->addresses);
    text_list_free(&snapshot->addresses6);
    text_list_free(&snapshot->gateways);
    text_list_free(&snapshot->dns_servers);
    host_routes_free(&snapshot->routes);
    *snapshot = (struct nic_snapshot){0};
}

json_t *nic_snapshot_json(const struct nic_snapshot *snapshot) {
    json_t *routes = json_array();
    for (size_t i = 0; i < snapshot->routes.count; i++) {
        const struct host_route *route = &snapshot->routes.items[i];
        json_array_append_new(routes, json_pack("{s:s,s:s,s:I}", "destination", route->destination,
                                                "nextHop", route->next_hop, "metric",
                                                (json_int_t)route->metric));
    }
    return json_pack("{s:s,s:s,s:s,s:I,s:b,s:b,s:s,s:s*,s:o,s:o,s:o,s:I,s:I,s:o,s:o}", "alias",
                     snapshot->alias, "currentAlias", snapshot->current_alias, "mac", snapshot->mac,
                     "mtu", (json_int_t)snapshot->mtu, "dhcp", snapshot->dhcp, "hasSwitch",
                     snapshot->has_switch, "address", snapshot->address, "address6",
                     *snapshot->address6 ? snapshot->address6 : NULL, "addresses",
                     json_texts(&snapshot->addresses), "gateways", json_texts(&snapshot->gateways),
                     "dnsServers", json_texts(&snapshot->dns_servers), "metric",
                     (json_int_t)snapshot->metric, "metric6", (json_int_t)snapshot->metric6,
                     "addresses6", json_texts(&snapshot->addresses6), "routes", routes);
}

static int read_routes(const json_t *json, struct nic_snapshot *snapshot, struct error *err) {
    json_each(json_object_get(json, "routes"), i, item) {
        const char *destination = json_text_at(item, "destination");
        const char *next_hop = json_text_at(item, "nextHop");
        long long metric = json_number_at(item, "metric", 0);
        struct host_route route = {0};
        if (!destination || !next_hop || metric < 0 || metric > UINT32_MAX ||
            text_format(route.destination, sizeof(route.destination), "%s", destination) < 0 ||
            text_format(route.next_hop, sizeof(route.next_hop), "%s", next_hop) < 0)
            return error_set(err, ERROR_MALFORMED, "decode adapter snapshot: bad route");
        route.metric = (uint32_t)metric;
        array_add(snapshot->routes.items, snapshot->routes.count, route);
    }
    return 0;
}

static int read_members(const json_t *json, struct nic_snapshot *snapshot, struct error *err) {
    const char *alias = json_text_at(json, "alias");
    const char *current = json_text_at(json, "currentAlias");
    const char *mac = json_text_at(json, "mac"), *address = json_text_at(json, "address");
    if (!alias || !current || !mac || !address ||
        text_format(snapshot->mac, sizeof(snapshot->mac), "%s", mac) < 0 ||
        text_format(snapshot->address, sizeof(snapshot->address), "%s", address) < 0 ||
        text_format(snapshot->address6, sizeof(snapshot->address6), "%s",
                    json_text_or(json, "address6", "")) < 0)
        return error_set(err, ERROR_MALFORMED, "decode adapter snapshot: a field is missing");
    snapshot->alias = xstrdup(alias);
    snapshot->current_alias = xstrdup(current);
    snapshot->mtu = (uint32_t)json_number_at(json, "mtu", 0);
    snapshot->dhcp = json_bool_at(json, "dhcp", false);
    snapshot->has_switch = json_bool_at(json, "hasSwitch", false);
    snapshot->metric = (uint32_t)json_number_at(json, "metric", 0);
    snapshot->metric6 = (uint32_t)json_number_at(json, "metric6", 0);
    json_read_texts(json_object_get(json, "addresses"), &snapshot->addresses);
    json_read_texts(json_object_get(json, "addresses6"), &snapshot->addresses6);
    json_read_texts(json_object_get(json, "gateways"), &snapshot->gateways);
    json_read_texts(json_object_get(json, "dnsServers"), &snapshot->dns_servers);
    return read_routes(json, snapshot, err);
}

int nic_snapshot_read(const json_t *json, struct nic_snapshot *ret, struct error *err) {
    _cleanup_(nic_snapshot_free) struct nic_snapshot snapshot = {0};
    if (read_members(json, &snapshot, err) < 0)
        return -1;
    *ret = take_struct(snapshot);
    return 0;
}
