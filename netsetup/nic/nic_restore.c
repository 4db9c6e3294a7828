/* Restores an adapter: waits for it, then sets its addresses, routes and DNS servers again. */
#include "host/wait.h"
#include "netsetup/nic/nic.h"

enum {
    WAIT_MS = 120000,
    POLL_MS = 200,
    /* How long a router may take to advertise the IPv6 address again. */
    IPV6_GRACE_MS = 10000,
    /* How long Windows may take to restore a static address by itself. */
    STATIC_GRACE_MS = 3000,
};

struct watch {
    struct host *host;
    const struct nic_snapshot *snapshot;
    nic_progress *progress;
    void *context;
    uint64_t start, up_since, back; /* Times in ms; `back` is when the IPv4 address came back. */
    bool up;                        /* The interface is up, since the time up_since. */
    bool away;                      /* The address was missing at least once. */
    /* This check waits for nothing and restores everything. */
    bool impatient;
    struct nic_restored *result;
};

/* Finds the interface with the adapter's MAC that is most likely in use. Members and VLANs of a
 * team have the same MAC. The vNIC of a virtual switch comes first. */
static const struct host_adapter *in_use(const struct host_adapters *adapters,
                                         const struct nic_snapshot *snapshot) {
    const struct host_adapter *found = NULL;
    unsigned best = 0;
    for (size_t i = 0; i < adapters->count; i++) {
        const struct host_adapter *adapter = &adapters->items[i];
        unsigned rank = nic_holds(adapter, snapshot->address)                 ? 5
                        : nic_is_switch_of(adapter->alias, snapshot->alias)   ? 4
                        : nic_is_virtual_alias(adapter->alias)                ? 3
                        : text_equal(adapter->alias, snapshot->current_alias) ? 2
                                                                              : 1;
        if (!text_equal_nocase(adapter->mac, snapshot->mac) || rank <= best)
            continue;
        found = adapter;
        best = rank;
    }
    return found;
}

/* Returns an address that the node can use: the old one or, with DHCP, any that others reach. */
static const char *good_address(const struct watch *watch, const struct host_adapter *adapter) {
    const char *other = NULL;
    for (size_t i = 0; i < adapter->addresses.count; i++) {
        const char *address = adapter->addresses.items[i];
        if (nic_same_address(address, watch->snapshot->address))
            return address;
        if (nic_usable_address(address))
            other = address;
    }
    return watch->snapshot->dhcp ? other : NULL;
}

/* Adds the addresses of the list that the adapter lacks. */
static int put_addresses_back(struct watch *watch, const struct host_adapter *adapter,
                              const struct text_list *addresses, struct error *err) {
    for (size_t i = 0; i < addresses->count; i++) {
        const char *address = addresses->items[i];
        if (nic_holds(adapter, address))
            continue;
        if (host_address_add(watch->host, adapter->index, address, err) < 0)
            return error_prefix(err, "restore address '%s'", address);
        if (strchr(address, ':'))
            watch->result->addresses6_restored++;
        else
            watch->result->address_restored = true;
    }
    return 0;
}

/* Does `a` begin with the DNS servers of `b` in the same order? The order matters, because Windows
 * asks the first server first. */
static bool same_servers(const struct text_list *a, const struct text_list *b) {
    if (a->count < b->count)
        return false;
    for (size_t i = 0; i < b->count; i++)
        if (!text_equal(a->items[i], b->items[i]))
            return false;
    return true;
}

static bool has_route(const struct host_routes *routes, uint32_t index,
                      const struct host_route *wanted) {
    for (size_t i = 0; i < routes->count; i++) {
        const struct host_route *route = &routes->items[i];
        if (route->interface_index == index &&
            text_equal(route->destination, wanted->destination) &&
            text_equal(route->next_hop, wanted->next_hop))
            return true;
    }
    return false;
}

/* Restores addresses, metrics, routes and DNS servers. When DHCP gave another address, its routes
 * and servers are right, so nothing is restored. */
static int put_rest_back(struct watch *watch, const struct host_adapter *adapter,
                         struct error *err) {
    const struct nic_snapshot *snapshot = watch->snapshot;
    const struct {
        int family;
        uint32_t before, now;
    } metrics[] = {{4, snapshot->metric, adapter->metric},
                   {6, snapshot->metric6, adapter->metric6}};
    _cleanup_(host_routes_free) struct host_routes now = {0};
    if (!nic_same_address(watch->result->address, snapshot->address))
        return 0;
    if ((!snapshot->dhcp && put_addresses_back(watch, adapter, &snapshot->addresses, err) < 0) ||
        put_addresses_back(watch, adapter, &snapshot->addresses6, err) < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_SIZE(metrics); i++)
        if (metrics[i].before && metrics[i].before != metrics[i].now &&
            host_metric_set(watch->host, adapter->index, metrics[i].family, metrics[i].before,
                            err) < 0)
            return error_prefix(err, "restore the metric");
    if (host_routes(watch->host, &now, err) < 0)
        return -1;
    /* Includes the default route: the gateways of an adapter are its default routes. */
    for (size_t i = 0; i < snapshot->routes.count; i++) {
        struct host_route route = snapshot->routes.items[i];
        if (has_route(&now, adapter->index, &route))
            continue;
        route.interface_index = adapter->index;
        route.persistent = true; /* The vNIC survives a restart, so its routes must, too. */
        if (host_route_add(watch->host, &route, err) < 0)
            return error_prefix(err, "restore route to '%s'", route.destination);
        watch->result->routes_restored++;
    }
    if (snapshot->dhcp || same_servers(&adapter->dns_servers, &snapshot->dns_servers))
        return 0;
    if (host_dns_set(watch->host, adapter->index, &snapshot->dns_servers, err) < 0)
        return error_prefix(err, "restore the DNS servers");
    watch->result->dns_restored = true;
    return 0;
}

/* Is an IPv6 address missing that a router advertises? It comes back by itself, later than the
 * rest. In the end the node continues without it. */
static bool misses_address6(const struct watch *watch, const struct host_adapter *adapter) {
    const struct nic_snapshot *snapshot = watch->snapshot;
    return *snapshot->address6 && !text_list_has(&snapshot->addresses6, snapshot->address6) &&
           nic_same_address(watch->result->address, snapshot->address) &&
           !nic_holds(adapter, snapshot->address6);
}

/* Describes how both families differ from before, for people. The text stays "" when nothing
 * differs or the adapter cannot be read. */
static void compare(struct watch *watch) {
    const struct nic_snapshot *before = watch->snapshot;
    const struct text_list *const addresses[] = {&before->addresses, &before->addresses6};
    _cleanup_(host_adapters_free) struct host_adapters adapters = {0};
    _cleanup_(host_routes_free) struct host_routes routes = {0};
    _cleanup_(text_free) struct text list = {0};
    if (host_adapters(watch->host, &adapters, NULL) < 0 ||
        host_routes(watch->host, &routes, NULL) < 0)
        return;
    const struct host_adapter *adapter = in_use(&adapters, before);
    if (!adapter || !nic_same_address(watch->result->address, before->address))
        return;
    for (size_t f = 0; f < ARRAY_SIZE(addresses); f++)
        for (size_t i = 0; i < addresses[f]->count; i++)
            if (!nic_holds(adapter, addresses[f]->items[i]))
                text_addf(&list, "%sno address %s", list.len ? ", " : "", addresses[f]->items[i]);
    if (misses_address6(watch, adapter))
        text_addf(&list, "%sno address %s", list.len ? ", " : "", before->address6);
    for (size_t i = 0; i < before->routes.count; i++) {
        if (!has_route(&routes, adapter->index, &before->routes.items[i]))
            text_addf(&list, "%sno route to %s", list.len ? ", " : "",
                      before->routes.items[i].destination);
    }
    if (!same_servers(&adapter->dns_servers, &before->dns_servers))
        text_addf(&list, "%sother DNS servers", list.len ? ", " : "");
    (void)text_format(watch->result->differs, sizeof watch->result->differs, "%.190s",
                      text_str(&list)); /* The text is cut to the size of the field. */
}

static void tell(void *context, const struct wait *wait, const struct error *missing) {
    const struct watch *watch = context;
    if (watch->progress && missing->kind == ERROR_TIMED_OUT)
        watch->progress(watch->context, wait->waited_ms, missing->message);
}

/* Checks the adapter once and restores what is missing. Returns POLL_DONE when everything is
 * restored. A failed step may work at the next check. */
static enum wait_poll poll_once(void *context, struct wait *, struct error *err) {
    struct watch *watch = context;
    _cleanup_(host_adapters_free) struct host_adapters adapters = {0};
    uint64_t now = host_monotonic_ms(watch->host);
    if (host_adapters(watch->host, &adapters, err) < 0)
        return POLL_AGAIN;
    const struct host_adapter *adapter = in_use(&adapters, watch->snapshot);
    const char *address = adapter && adapter->up ? good_address(watch, adapter) : NULL;
    if (address) {
        /* The address fits, since it was parsed before. */
        (void)text_format(watch->result->address, CIDR_TEXT_MAX, "%s", address);
        watch->back = watch->back ? watch->back : now;
        if (put_rest_back(watch, adapter, err) < 0)
            return POLL_AGAIN;
        if (watch->impatient || !misses_address6(watch, adapter) ||
            now - watch->back >= IPV6_GRACE_MS)
            return POLL_DONE;
        (void)error_set(err, ERROR_TIMED_OUT, "its IPv6 address to come back");
        return POLL_AGAIN;
    }
    watch->away = true;
    if (!adapter || !adapter->up) {
        watch->up = false;
        (void)error_set(err, ERROR_TIMED_OUT, "the adapter to come up");
        return POLL_AGAIN;
    }
    if (!watch->up)
        watch->up_since = now;
    watch->up = true;
    if (!watch->snapshot->dhcp && (watch->impatient || now - watch->up_since >= STATIC_GRACE_MS) &&
        put_addresses_back(watch, adapter, &watch->snapshot->addresses, err) < 0)
        return POLL_AGAIN;
    (void)error_set(err, ERROR_TIMED_OUT, "its address to come back");
    return POLL_AGAIN;
}

int nic_restore(struct host *host, const struct nic_snapshot *snapshot, nic_progress *progress,
                void *context, struct nic_restored *ret, struct error *err) {
    struct nic_restored result = {0};
    struct watch watch = {.host = host,
                          .snapshot = snapshot,
                          .progress = progress,
                          .context = context,
                          .start = host_monotonic_ms(host),
                          .result = &result};
    struct wait wait = {.limit_ms = WAIT_MS,
                        .pause_ms = POLL_MS,
                        .poll = poll_once,
                        .tell = tell,
                        .context = &watch,
                        .tell_context = &watch};
    struct error why = {0};
    enum wait_poll end = wait_until(host, &wait, &why);
    if (end == POLL_AGAIN && why.kind == ERROR_TIMED_OUT)
        (void)error_set(&why, ERROR_TIMED_OUT, "address '%s' did not come back", snapshot->address);
    if (end == POLL_AGAIN) {
        (void)error_set(err, ERROR_TIMED_OUT, "%s", why.message);
        return error_prefix(err, "adapter '%s' after %d s", snapshot->alias, WAIT_MS / 1000);
    }
    if (end == POLL_FAILED) {
        /* The user has interrupted the wait: one last try to restore the address. */
        watch.impatient = true;
        (void)poll_once(&watch, NULL, NULL);
        (void)poll_once(&watch, NULL, NULL);
        return error_pass(err, &why);
    }
    if (watch.away)
        result.outage_ms = (unsigned)(watch.back - watch.start);
    compare(&watch);
    *ret = result;
    return 0;
}

/* ---- an adapter's settings in the journal ---- */

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
