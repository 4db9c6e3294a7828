/* An adapter's settings as the journal keeps them. */
#include "netsetup/nic/nic.h"

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

int nic_snapshot_read(const json_t *json, struct nic_snapshot *ret, struct error *err) {
    _cleanup_(nic_snapshot_free) struct nic_snapshot snapshot = {0};
    const char *alias = json_text_at(json, "alias");
    const char *current = json_text_at(json, "currentAlias");
    const char *mac = json_text_at(json, "mac"), *address = json_text_at(json, "address");

    if (!alias || !current || !mac || !address ||
        text_format(snapshot.mac, sizeof(snapshot.mac), "%s", mac) < 0 ||
        text_format(snapshot.address, sizeof(snapshot.address), "%s", address) < 0 ||
        text_format(snapshot.address6, sizeof(snapshot.address6), "%s",
                    json_text_or(json, "address6", "")) < 0)
        return error_set(err, ERROR_MALFORMED, "decode adapter snapshot: a field is missing");
    snapshot.alias = xstrdup(alias);
    snapshot.current_alias = xstrdup(current);
    snapshot.mtu = (uint32_t)json_number_at(json, "mtu", 0);
    snapshot.dhcp = json_bool_at(json, "dhcp", false);
    snapshot.has_switch = json_bool_at(json, "hasSwitch", false);
    snapshot.metric = (uint32_t)json_number_at(json, "metric", 0);
    snapshot.metric6 = (uint32_t)json_number_at(json, "metric6", 0);
    json_read_texts(json_object_get(json, "addresses"), &snapshot.addresses);
    json_read_texts(json_object_get(json, "addresses6"), &snapshot.addresses6);
    json_read_texts(json_object_get(json, "gateways"), &snapshot.gateways);
    json_read_texts(json_object_get(json, "dnsServers"), &snapshot.dns_servers);
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
        array_add(snapshot.routes.items, snapshot.routes.count, route);
    }
    *ret = take_struct(snapshot);
    return 0;
}
