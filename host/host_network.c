/* The seam's front for the host's own network: checks arguments, frees lists. */
#include "base/cidr.h"
#include "base/log.h"
#include "host/host_ops.h"

int host_adapters(struct host *host, struct host_adapters *ret, struct error *err) {
    struct host_adapters adapters = {0};

    if (host->ops->adapters(host, &adapters, err) < 0)
        return -1;
    *ret = adapters;
    return 0;
}

void host_adapters_free(struct host_adapters *adapters) {
    for (size_t i = 0; i < adapters->count; i++) {
        struct host_adapter *a = &adapters->items[i];

        free(a->alias);
        free(a->description);
        text_list_free(&a->addresses);
        text_list_free(&a->advertised);
        text_list_free(&a->gateways);
        text_list_free(&a->dns_servers);
    }
    free(adapters->items);
    *adapters = (struct host_adapters){0};
}

int host_routes(struct host *host, struct host_routes *ret, struct error *err) {
    struct host_routes routes = {0};

    if (host->ops->routes(host, &routes, err) < 0)
        return -1;
    *ret = routes;
    return 0;
}

void host_routes_free(struct host_routes *routes) {
    free(routes->items);
    *routes = (struct host_routes){0};
}

int host_neighbors(struct host *host, struct host_neighbors *ret, struct error *err) {
    struct host_neighbors neighbors = {0};

    if (host->ops->neighbors(host, &neighbors, err) < 0)
        return -1;
    *ret = neighbors;
    return 0;
}

void host_neighbors_free(struct host_neighbors *neighbors) {
    free(neighbors->items);
    *neighbors = (struct host_neighbors){0};
}

static int check_route(const struct host_route *route, struct error *err) {
    struct cidr destination;
    struct ip next_hop;

    if (cidr_parse(route->destination, &destination, err) < 0 ||
        ip_parse(route->next_hop, &next_hop, err) < 0)
        return error_prefix(err, "route to '%s'", route->destination);
    if (destination.base.family != next_hop.family)
        return error_set(err, ERROR_USAGE,
                         "route to '%s': next hop '%s' belongs to another address family",
                         route->destination, route->next_hop);
    return 0;
}

int host_route_add(struct host *host, const struct host_route *route, struct error *err) {
    if (check_route(route, err) < 0)
        return -1;
    log_message(LOG_CALL, "add route to %s through %s", route->destination, route->next_hop);
    return host_changed(host, host->ops->route_add(host, route, err));
}

int host_route_remove(struct host *host, const struct host_route *route, struct error *err) {
    if (check_route(route, err) < 0)
        return -1;
    log_message(LOG_CALL, "remove route to %s through %s", route->destination, route->next_hop);
    return host_changed(host, host->ops->route_remove(host, route, err));
}

int host_address_add(struct host *host, uint32_t interface_index, const char *address,
                     struct error *err) {
    struct cidr prefix;

    if (!strchr(address, '/') || cidr_parse(address, &prefix, err) < 0)
        return error_set(err, ERROR_USAGE, "add address '%s': not an address with a prefix length",
                         address);
    log_message(LOG_CALL, "add address %s to interface %u", address, interface_index);
    return host_changed(host, host->ops->address_add(host, interface_index, address, err));
}

int host_dns_set(struct host *host, uint32_t interface_index, const struct text_list *servers,
                 struct error *err) {
    for (size_t i = 0; i < servers->count; i++) {
        struct ip server;

        if (ip_parse(servers->items[i], &server, err) < 0)
            return error_prefix(err, "set DNS servers of interface %u", interface_index);
    }
    log_message(LOG_CALL, "set %zu DNS servers of interface %u", servers->count, interface_index);
    return host_changed(host, host->ops->dns_set(host, interface_index, servers, err));
}

int host_forwarding(struct host *host, uint32_t interface_index, int family, bool *ret,
                    struct error *err) {
    return host->ops->forwarding(host, interface_index, family, ret, err);
}

int host_metric_set(struct host *host, uint32_t interface_index, int family, uint32_t metric,
                    struct error *err) {
    log_message(LOG_CALL, "set metric of interface %u to %u", interface_index, metric);
    return host_changed(host, host->ops->metric_set(host, interface_index, family, metric, err));
}

int host_forwarding_set(struct host *host, uint32_t interface_index, int family, bool on,
                        struct error *err) {
    log_message(LOG_CALL, "turn IPv%d forwarding of interface %u %s", family, interface_index,
                on ? "on" : "off");
    return host->ops->forwarding_set(host, interface_index, family, on, err);
}

static int check_port(unsigned port, struct error *err) {
    if (port < 1 || port > 65535)
        return error_set(err, ERROR_USAGE, "port %u: not between 1 and 65535", port);
    return 0;
}

int host_port_in_use(struct host *host, bool udp, unsigned port, bool *ret, struct error *err) {
    if (check_port(port, err) < 0)
        return -1;
    return host->ops->port_in_use(host, udp, port, ret, err);
}

int host_firewall_put(struct host *host, const struct host_firewall_rule *rule, struct error *err) {
    if (check_port(rule->port, err) < 0)
        return error_prefix(err, "open firewall for '%s'", rule->name);
    if (!*rule->name)
        return error_set(err, ERROR_USAGE, "open firewall: the rule has no name");
    log_message(LOG_CALL, "write firewall rule '%s'", rule->name);
    return host->ops->firewall_put(host, rule, err);
}

int host_firewall_remove(struct host *host, const char *name, struct error *err) {
    if (!*name) /* INetFwRules.Remove("") would remove any rule without a name */
        return error_set(err, ERROR_USAGE, "close firewall: the rule has no name");
    log_message(LOG_CALL, "remove firewall rule '%s'", name);
    return host->ops->firewall_remove(host, name, err);
}

int host_firewall_has(struct host *host, const char *name, bool *ret, struct error *err) {
    return host->ops->firewall_has(host, name, ret, err);
}
