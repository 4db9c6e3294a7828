/* Chooses the node's network adapter and records its state. */
#include "netsetup/nic/nic.h"

#include "netsetup/agents/daemon_set_agent.h"

bool nic_usable_address(const char *address) {
    _cleanup_(freep) char *text = xstrndup(address, strcspn(address, "/"));
    struct ip ip = {0};
    return ip_parse(text, &ip, NULL) == 0 && ip.family == 4 && !ip_is_link_local(&ip) &&
           !ip_is_loopback(&ip);
}

bool nic_same_address(const char *a, const char *b) {
    size_t length = strcspn(a, "/");
    return length == strcspn(b, "/") && strncmp(a, b, length) == 0;
}

bool nic_is_virtual_alias(const char *alias) {
    for (size_t i = 0; daemon_set_agents[i]; i++)
        if (text_equal(alias, daemon_set_agents[i]->adapter))
            return true;
    return text_starts_with(alias, "vEthernet (");
}

bool nic_is_switch_of(const char *alias, const char *physical) {
    _cleanup_(freep) char *name = xasprintf("vEthernet (%s)", physical);
    return text_equal_nocase(alias, name);
}

bool nic_holds(const struct host_adapter *adapter, const char *address) {
    for (size_t i = 0; i < adapter->addresses.count; i++)
        if (nic_same_address(adapter->addresses.items[i], address))
            return true;
    return false;
}

const struct host_adapter *nic_with(const struct host_adapters *adapters, const char *address,
                                    struct error *err) {
    for (size_t i = 0; i < adapters->count; i++)
        if (adapters->items[i].up && nic_holds(&adapters->items[i], address))
            return &adapters->items[i];
    (void)error_set(err, ERROR_ABSENT, "no interface has '%.*s'", (int)strcspn(address, "/"),
                    address);
    return NULL;
}

int nic_index_of(struct host *host, const char *address, uint32_t *ret, struct error *err) {
    _cleanup_(host_adapters_free) struct host_adapters adapters = {0};
    const struct host_adapter *found;
    if (host_adapters(host, &adapters, err) < 0 || !(found = nic_with(&adapters, address, err)))
        return -1;
    *ret = found->index;
    return 0;
}

/* ---- the state of the adapter ---- */

/* Does Windows make this route by itself? From an address it makes routes to its subnet, to itself,
 * for multicast and for broadcast. For IPv6 it makes all on-link routes, and a router's
 * advertisement brings the default route. */
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

void nic_snapshot_take(const struct host_adapter *current, const struct host_adapter *physical,
                       const struct host_routes *routes, const char *node_ip,
                       struct nic_snapshot *ret) {
    _cleanup_(freep) char *driver = text_lower(physical->description ? physical->description : "");
    struct nic_snapshot snapshot = {.mtu = current->mtu,
                                    .dhcp = current->dhcp,
                                    .metric = current->metric,
                                    .metric6 = current->metric6};
    snapshot.alias = xstrdup(physical->alias);
    snapshot.current_alias = xstrdup(current->alias);
    snapshot.has_switch = nic_is_virtual_alias(current->alias);
    /* A team is recognized by the name of its driver. Windows translates that name, but this part
     * only in Russian. */
    snapshot.is_team =
        strstr(driver, "multiplex") || strstr(driver, "\xd0\xbc\xd1\x83\xd0\xbb\xd1\x8c\xd1\x82"
                                                      "\xd0\xb8\xd0\xbf\xd0\xbb\xd0\xb5\xd0\xba");
    snapshot.is_tunnel = !*physical->mac;
    /* Both MAC fields have the same size. */
    (void)text_format(snapshot.mac, sizeof(snapshot.mac), "%s", current->mac);
    for (size_t i = 0; i < current->addresses.count; i++) {
        const char *address = current->addresses.items[i];
        _cleanup_(freep) char *text = xstrndup(address, strcspn(address, "/"));
        bool is_node_ip = !node_ip || nic_same_address(address, node_ip);
        struct ip ip;
        if (ip_parse(text, &ip, NULL) < 0 || ip_is_link_local(&ip) || ip_is_loopback(&ip))
            continue;
        if (ip.family == 4)
            text_list_add(&snapshot.addresses, address);
        /* The IPv6 address was set by hand. */
        else if (!text_list_has(&current->advertised, address))
            text_list_add(&snapshot.addresses6, address);
        /* The node's own address. For IPv6 it is the first that other nodes reach. */
        if (ip.family == 4 && !*snapshot.address && is_node_ip)
            /* The address fits, since it was parsed before. */
            (void)text_format(snapshot.address, CIDR_TEXT_MAX, "%s", address);
        if (ip.family == 6 && !*snapshot.address6)
            (void)text_format(snapshot.address6, CIDR_TEXT_MAX, "%s", address);
    }
    for (size_t i = 0; i < current->gateways.count; i++)
        if (nic_usable_address(current->gateways.items[i]))
            text_list_add(&snapshot.gateways, current->gateways.items[i]);
    for (size_t i = 0; i < current->dns_servers.count; i++)
        text_list_add(&snapshot.dns_servers, current->dns_servers.items[i]);
    for (size_t i = 0; i < routes->count; i++)
        if (routes->items[i].interface_index == current->index &&
            !made_by_windows(&routes->items[i], &snapshot, current->advertised.count != 0))
            array_add(snapshot.routes.items, snapshot.routes.count, routes->items[i]);
    *ret = snapshot;
}

/* ---- which adapter is the node's ---- */

static bool any_usable(const struct text_list *addresses) {
    for (size_t i = 0; i < addresses->count; i++)
        if (nic_usable_address(addresses->items[i]))
            return true;
    return false;
}

/* Can this adapter be the one under a virtual switch whose vEthernet has another MAC? Such an
 * adapter has no usable address. */
static bool may_be_below(const struct host_adapters *adapters, const struct host_adapter *adapter) {
    if (nic_is_virtual_alias(adapter->alias) || !*adapter->mac || any_usable(&adapter->addresses))
        return false;
    /* A vEthernet with its MAC shows that another switch uses this adapter. */
    for (size_t i = 0; i < adapters->count; i++)
        if (nic_is_virtual_alias(adapters->items[i].alias) &&
            text_equal_nocase(adapters->items[i].mac, adapter->mac))
            return false;
    return true;
}

/* Returns the adapter under a vEthernet interface: the one with the same MAC. A team shares its MAC
 * with its members and VLANs, so one with the matching name comes first. An interface that an
 * administrator of Hyper-V added has a MAC of its own; its adapter is the one that the call names,
 * if that has no address. */
static const struct host_adapter *physical_of(const struct host_adapters *adapters,
                                              const struct host_adapter *adapter,
                                              const char *wished) {
    const struct host_adapter *found = NULL, *named = NULL;
    if (!nic_is_virtual_alias(adapter->alias))
        return adapter;
    for (size_t i = 0; i < adapters->count; i++) {
        const struct host_adapter *other = &adapters->items[i];
        if (text_equal_nocase(other->alias, wished) && may_be_below(adapters, other))
            named = other;
        if (nic_is_virtual_alias(other->alias) || !*other->mac ||
            !text_equal_nocase(other->mac, adapter->mac))
            continue;
        if (!found || nic_is_switch_of(adapter->alias, other->alias))
            found = other;
    }
    return found ? found : named;
}

struct wish {
    const char *adapter;
    const char *node_ip;
};

/* Does the adapter lead to other machines? It must have the given node IP or, without one, a
 * default route. */
static bool leads_out(const struct host_adapter *adapter, const struct host_routes *routes,
                      const struct wish *wish) {
    if (wish->node_ip)
        return nic_holds(adapter, wish->node_ip);
    if (any_usable(&adapter->gateways))
        return true;
    for (size_t i = 0; i < routes->count; i++)
        if (routes->items[i].interface_index == adapter->index &&
            text_equal(routes->items[i].destination, "0.0.0.0/0"))
            return true;
    return false;
}

static bool is_candidate(const struct host_adapters *adapters, const struct host_routes *routes,
                         const struct host_adapter *adapter, const struct wish *wish) {
    const struct host_adapter *physical = physical_of(adapters, adapter, wish->adapter);
    if (!adapter->up || !any_usable(&adapter->addresses) || !physical)
        return false;
    if (!wish->adapter)
        return leads_out(adapter, routes, wish);
    if (text_equal_nocase(wish->adapter, adapter->alias))
        return true;
    return text_equal_nocase(wish->adapter, physical->alias) &&
           (text_equal_nocase(physical->mac, adapter->mac) || leads_out(adapter, routes, wish));
}

/* Fails where an adapter would be the node's, but the adapter under its virtual switch is not
 * known. Returns 0 when there is no such adapter, or when no adapter is left that its switch can
 * use, as with Windows' own NAT. */
static int refuse_unbound(const struct host_adapters *adapters, const struct host_routes *routes,
                          const struct wish *wish, struct error *err) {
    _cleanup_(text_free) struct text names = {0};
    const char *unbound = NULL, *first = NULL;
    for (size_t i = 0; i < adapters->count; i++) {
        const struct host_adapter *adapter = &adapters->items[i];
        if (!unbound && adapter->up && any_usable(&adapter->addresses) &&
            !physical_of(adapters, adapter, NULL) &&
            (wish->adapter ? text_equal_nocase(wish->adapter, adapter->alias)
                           : leads_out(adapter, routes, wish)))
            unbound = adapter->alias;
        if (!may_be_below(adapters, adapter))
            continue;
        text_addf(&names, "%s'%s'", first ? ", " : "", adapter->alias);
        first = first ? first : adapter->alias;
    }
    if (!unbound || !first)
        return 0;
    (void)error_set(
        err, ERROR_PREFLIGHT,
        "'%s' is on a virtual switch, and no network adapter has its MAC address: which "
        "one the switch is on is not known",
        unbound);
    return error_hint(err, "name it: --adapter \"%s\" (without an address are %s)", first,
                      text_str(&names));
}

static int refuse_none(const struct host_adapters *adapters, const struct wish *wish,
                       struct error *err) {
    _cleanup_(text_free) struct text names = {0};
    for (size_t i = 0; i < adapters->count; i++) {
        const char *address = NULL;

        /* Makes a text such as "'Ethernet' (169.254.83.7/16: no DHCP server answered)". */
        for (size_t k = 0; k < adapters->items[i].addresses.count; k++)
            if (!strchr(adapters->items[i].addresses.items[k], ':') &&
                (!address || nic_usable_address(adapters->items[i].addresses.items[k])))
                address = adapters->items[i].addresses.items[k];
        text_addf(&names, "%s'%s' (", names.len ? ", " : "", adapters->items[i].alias);
        if (!adapters->items[i].up)
            text_add(&names, "not up)");
        else if (!address)
            text_add(&names, "no IPv4 address)");
        else
            text_addf(&names, "%s%s)", address,
                      text_starts_with(address, "169.254.") ? ": no DHCP server answered" : "");
    }
    if (wish->adapter)
        (void)error_set(err, ERROR_PREFLIGHT,
                        "adapter '%s' does not exist, is not up, or has no usable IPv4 address",
                        wish->adapter);
    else if (wish->node_ip)
        (void)error_set(err, ERROR_PREFLIGHT, "no adapter has the node address '%s'",
                        wish->node_ip);
    else
        (void)error_set(err, ERROR_PREFLIGHT,
                        "no adapter that is up has a usable IPv4 address and a default route");
    return error_hint(
        err, "this server has %s%s", names.len ? text_str(&names) : "no adapter",
        wish->adapter || wish->node_ip
            ? ""
            : "; --adapter NAME or --node-ip ADDRESS chooses one without a default route");
}

int nic_choose(struct host *host, const char *adapter, const char *node_ip,
               struct nic_snapshot *ret, struct error *err) {
    _cleanup_(host_adapters_free) struct host_adapters adapters = {0};
    _cleanup_(host_routes_free) struct host_routes routes = {0};
    const struct wish wish = {adapter, node_ip};
    const struct host_adapter *chosen = NULL;
    if (host_adapters(host, &adapters, err) < 0 || host_routes(host, &routes, err) < 0)
        return -1;
    for (size_t i = 0; i < adapters.count; i++) {
        if (!is_candidate(&adapters, &routes, &adapters.items[i], &wish))
            continue;
        if (chosen) {
            (void)error_set(err, ERROR_PREFLIGHT,
                            "several adapters could be the node's: '%s' and '%s'", chosen->alias,
                            adapters.items[i].alias);
            return error_hint(err, "choose one: --adapter \"%s\"", chosen->alias);
        }
        chosen = &adapters.items[i];
    }
    if (!chosen)
        return refuse_unbound(&adapters, &routes, &wish, err) < 0
                   ? -1
                   : refuse_none(&adapters, &wish, err);
    if (node_ip && !nic_holds(chosen, node_ip))
        return error_set(err, ERROR_PREFLIGHT, "adapter '%s' does not have the node address '%s'",
                         chosen->alias, node_ip);
    nic_snapshot_take(chosen, physical_of(&adapters, chosen, adapter), &routes, node_ip, ret);
    return 0;
}
