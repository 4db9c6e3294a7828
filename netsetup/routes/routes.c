/* Sets host routes to other nodes' Pods, and IP forwarding. */
#include "netsetup/routes/routes.h"

#include <ctype.h>

#include "netsetup/hns/hcn_network.h"
#include "netsetup/nic/nic.h"

static int fill_route(const struct pod_route *pod_route, uint32_t index, struct host_route *ret,
                      struct error *err) {
    struct cidr cidr = {0};
    struct ip hop = {0};
    if (cidr_parse(pod_route->pod_cidr, &cidr, err) < 0 ||
        ip_parse(pod_route->node_address, &hop, err) < 0)
        return error_prefix(err, "route to a node's pods");
    *ret = (struct host_route){.interface_index = index};
    cidr_format(&cidr, ret->destination);
    ip_format(&hop, ret->next_hop);
    return 0;
}

/* The host's routes, sorted by destination. */
struct sorted_routes {
    struct host_routes routes;
    const struct host_route **sorted; /* Pointers to the routes in this order, NULL-terminated. */
};

static void sorted_routes_free(struct sorted_routes *existing) {
    host_routes_free(&existing->routes);
    free((void *)existing->sorted);
}

static int compare_routes(const void *a, const void *b) {
    const struct host_route *x = *(const struct host_route *const *)a,
                            *y = *(const struct host_route *const *)b;
    int order = strcmp(x->destination, y->destination);

    return order ? order : (x > y) - (x < y);
}

static int sorted_routes_read(struct host *host, struct sorted_routes *ret, struct error *err) {
    if (host_routes(host, &ret->routes, err) < 0)
        return -1;
    ret->sorted = xcalloc(ret->routes.count + 1, sizeof *ret->sorted);
    for (size_t i = 0; i < ret->routes.count; i++)
        ret->sorted[i] = &ret->routes.items[i];
    qsort((void *)ret->sorted, ret->routes.count, sizeof *ret->sorted, compare_routes);
    return 0;
}

/* Returns the position of the first route to this destination, or where it would be. */
static const struct host_route *const *first_to(const struct sorted_routes *existing,
                                                const char *destination) {
    size_t low = 0, high = existing->routes.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(existing->sorted[middle]->destination, destination) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return &existing->sorted[low];
}

/* Ensures a route. Routes to the same prefix through another node are replaced. */
static int ensure_route(struct host *host, const struct sorted_routes *existing,
                        const struct pod_route *route, uint32_t index, size_t *changed,
                        struct error *err) {
    const struct host_route *const *at;
    struct host_route wanted = {0};
    bool there = false;

    if (fill_route(route, index, &wanted, err) < 0)
        return -1;
    for (at = first_to(existing, wanted.destination);
         *at && text_equal((*at)->destination, wanted.destination); at++) {
        if ((*at)->interface_index != index)
            continue;
        if (text_equal((*at)->next_hop, wanted.next_hop))
            there = true;
        else if (host_route_remove(host, *at, err) < 0)
            return error_prefix(err, "replace route to '%s'", wanted.destination);
    }
    if (there)
        return 0;
    if (host_route_add(host, &wanted, err) < 0)
        return error_prefix(err, "add route to '%s' over '%s'", wanted.destination,
                            wanted.next_hop);
    ++*changed;
    return 0;
}

int pod_routes_ensure(struct host *host, const char *management_address,
                      const struct pod_route *routes, size_t count, size_t *ret_changed,
                      struct error *err) {
    _cleanup_(sorted_routes_free) struct sorted_routes existing = {0};
    struct error first = {0}, why = {0};
    uint32_t index = 0;
    size_t changed = 0;

    if (nic_index_of(host, management_address, &index, err) < 0 ||
        sorted_routes_read(host, &existing, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) /* A failed route does not stop the others. */
        if (ensure_route(host, &existing, &routes[i], index, &changed, &why) < 0 && !first.kind)
            first = why;
    if (ret_changed)
        *ret_changed = changed;
    return first.kind ? error_pass(err, &first) : 0;
}

int pod_routes_remove(struct host *host, const struct pod_route *routes, size_t count,
                      struct error *err) {
    _cleanup_(sorted_routes_free) struct sorted_routes existing = {0};
    if (sorted_routes_read(host, &existing, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        struct host_route wanted = {0};
        const struct host_route *const *at;
        if (fill_route(&routes[i], 0, &wanted, err) < 0)
            return -1;
        for (at = first_to(&existing, wanted.destination);
             *at && text_equal((*at)->destination, wanted.destination); at++)
            if (text_equal((*at)->next_hop, wanted.next_hop) &&
                host_route_remove(host, *at, err) < 0)
                return error_prefix(err, "remove route to '%s'", wanted.destination);
    }
    return 0;
}

int forwarding_ensure(struct host *host, const char *address, struct error *err) {
    int family = strchr(address, ':') ? 6 : 4;
    uint32_t index = 0;
    bool on = false;
    if (nic_index_of(host, address, &index, err) < 0 ||
        host_forwarding(host, index, family, &on, err) < 0 ||
        (!on && host_forwarding_set(host, index, family, true, err) < 0))
        return error_prefix(err, "forwarding");
    return 0;
}

/* ---- checking what other nodes announce: a node must get only packets for its own Pods ---- */

/* Is an announced route plausible? The prefix must be in the cluster's Pod prefixes (if those of
 * its family are known), and must have neither this node's Pods nor this node's address in it. The
 * next hop must be an address that another node can have. */
static bool is_believed(const struct network_plan *plan, const char *prefix, const char *address) {
    const char *const nodes[] = {plan->management_address, plan->ipv6.management_address};
    const char *const own[] = {plan->pod_cidr, plan->ipv6.pod_cidr};
    struct cidr wanted, pods, node;
    bool in_cluster = false, known = false;
    struct ip ip;

    if (!prefix || cidr_parse(prefix, &wanted, NULL) < 0 || !address ||
        ip_parse(address, &ip, NULL) < 0)
        return false;
    if (ip.family != wanted.base.family || ip_is_loopback(&ip) || ip_is_link_local(&ip) ||
        cidr_contains(&wanted, &ip) || text_equal(address, "0.0.0.0") || text_equal(address, "::"))
        return false;
    /* If the cluster's list lacks this node's own prefix, it is outdated and counts as unknown: a
     * control plane can get new prefixes after kubeadm wrote its ConfigMap. */
    for (size_t i = 0; i < plan->cluster_pod_cidrs.count; i++) {
        if (cidr_parse(plan->cluster_pod_cidrs.items[i], &pods, NULL) < 0)
            continue;
        in_cluster |= cidr_contains_cidr(&pods, &wanted);
        known |= cidr_parse(own[wanted.base.family == 6], &node, NULL) == 0 &&
                 cidr_contains_cidr(&pods, &node);
    }
    if (!in_cluster && (known || ip_is_loopback(&wanted.base) || ip_is_link_local(&wanted.base)))
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(own); i++)
        if ((cidr_parse(own[i], &pods, NULL) == 0 && cidr_overlaps(&pods, &wanted)) ||
            (ip_parse(nodes[i], &ip, NULL) == 0 && cidr_contains(&wanted, &ip)))
            return false;
    return true;
}

/* Is the text a MAC, as "02:aa:00:00:00:01" or with '-'? */
static bool is_mac(const char *text) {
    for (size_t i = 0; i < 17; i++)
        if (i % 3 == 2 ? !text[i] || !strchr(":-", text[i]) : !isxdigit((unsigned char)text[i]))
            return false;
    return !text[17];
}

json_t *next_hop_route_to(const struct network_plan *plan, const struct network_peer *peer) {
    if (!is_believed(plan, peer->pod_cidr, peer->node_address))
        return NULL;
    return json_pack("{s:s,s:s}", "podCIDR", peer->pod_cidr, "nodeAddress", peer->node_address);
}

int next_hop_routes_read(struct host *host, const struct network_plan *plan, json_t *list,
                         struct error *err) {
    _cleanup_(host_routes_free) struct host_routes routes = {0};
    uint32_t index = 0;
    if (nic_index_of(host, plan->management_address, &index, err) < 0 ||
        host_routes(host, &routes, err) < 0)
        return -1;
    for (size_t i = 0; i < routes.count; i++) {
        const struct host_route *route = &routes.items[i];
        struct cidr destination = {0}, pods = {0};
        bool to_pods = false;
        if (route->interface_index != index ||
            cidr_parse(route->destination, &destination, NULL) < 0 ||
            text_equal(route->next_hop, "0.0.0.0") || text_equal(route->next_hop, "::"))
            continue;
        for (size_t k = 0; k < plan->cluster_pod_cidrs.count; k++)
            to_pods |= cidr_parse(plan->cluster_pod_cidrs.items[k], &pods, NULL) == 0 &&
                       cidr_contains_cidr(&pods, &destination);
        /* The route is to the cluster's Pods, but not to this node's own. */
        if (to_pods && !text_equal(route->destination, plan->pod_cidr) &&
            !text_equal(route->destination, plan->ipv6.pod_cidr))
            json_array_append_new(list, json_pack("{s:s,s:s}", "podCIDR", route->destination,
                                                  "nodeAddress", route->next_hop));
    }
    return 0;
}

static int read_routes(const json_t *peers, struct pod_route **ret, struct error *err) {
    size_t count = json_array_size(peers);
    _cleanup_(freep) struct pod_route *routes = xcalloc(count, sizeof(*routes));
    for (size_t i = 0; i < count; i++) {
        const json_t *peer = json_array_get(peers, i);
        const char *pods = json_text_at(peer, "podCIDR"), *node = json_text_at(peer, "nodeAddress");
        if (!pods || !node || text_format(routes[i].pod_cidr, CIDR_TEXT_MAX, "%s", pods) < 0 ||
            text_format(routes[i].node_address, IP_TEXT_MAX, "%s", node) < 0)
            return error_set(err, ERROR_MALFORMED, "decode peers: no podCIDR and nodeAddress");
    }
    *ret = take_ptr(routes);
    return 0;
}

int next_hop_routes_write(struct host *host, const struct network_plan *plan, const json_t *peers,
                          bool, struct error *err) {
    _cleanup_(freep) struct pod_route *routes = NULL;
    return read_routes(peers, &routes, err) < 0
               ? -1
               : pod_routes_ensure(host, plan->management_address, routes, json_array_size(peers),
                                   NULL, err);
}

int next_hop_routes_remove(struct host *host, const struct network_plan *, const json_t *peers,
                           struct error *err) {
    _cleanup_(freep) struct pod_route *routes = NULL;
    _cleanup_json_ json_t *own = json_array();
    json_each(peers, i, peer)
        if (json_text_at(peer, "podCIDR")) /* Routes of another mode are policies in HNS. */
            json_array_append(own, peer);
    return read_routes(own, &routes, err) < 0
               ? -1
               : pod_routes_remove(host, routes, json_array_size(own), err);
}

/* ---- VXLAN routes: RemoteSubnetRoute policies ---- */

#define TYPE "RemoteSubnetRoute"

json_t *remote_subnet_to(const struct network_plan *plan, const struct network_peer *peer) {
    if (!is_believed(plan, peer->pod_cidr, peer->address) || !is_mac(peer->router_mac))
        return NULL;
    return hcn_policy_json(TYPE, json_pack("{s:s,s:I,s:s,s:s}", "DestinationPrefix", peer->pod_cidr,
                                           "IsolationId", (json_int_t)plan->vni, "ProviderAddress",
                                           peer->address, "DistributedRouterMacAddress",
                                           peer->router_mac));
}

static int read_network(struct host *host, const struct network_plan *plan,
                        struct hcn_network *ret_network, json_t *list, struct error *err) {
    _cleanup_json_ json_t *document = NULL;
    if (hcn_network_find_json(host, plan->name, ret_network, &document, err) < 0)
        return -1;
    json_each(json_object_get(document, "Policies"), i, policy)
        if (text_equal_nocase(json_text_at(policy, "Type"), TYPE))
            json_array_append(list, policy);
    return 0;
}

int remote_subnets_read(struct host *host, const struct network_plan *plan, json_t *list,
                        struct error *err) {
    struct hcn_network network = {0};
    return read_network(host, plan, &network, list, err);
}

static int modify(struct host *host, const char *id, bool add, json_t *policy, struct error *err) {
    _cleanup_json_ json_t *request = hcn_modify_policy_json(add, json_incref(policy));
    _cleanup_(freep) char *text = json_write(request);
    if (hcn_modify(host, HCN_NETWORK, id, text, err) == 0)
        return 0;
    return error_prefix(err, "%s route to pods of %s", add ? "add" : "remove",
                        json_text_at(policy, "Settings.DestinationPrefix"));
}

int remote_subnets_write(struct host *host, const struct network_plan *plan, const json_t *routes,
                         bool only, struct error *err) {
    struct hcn_network network = {0};
    _cleanup_json_ json_t *stored = json_array(), *gone = NULL, *missing = NULL;
    struct error first = {0}, why = {0};
    json_each(routes, i, policy)
        if (!text_equal_nocase(json_text_at(policy, "Type"), TYPE) ||
            !json_is_object(json_object_get(policy, "Settings")))
            return error_set(err, ERROR_MALFORMED, "decode peers: no " TYPE);
    if (read_network(host, plan, &network, stored, err) < 0)
        return -1;
    /* HNS has one route for each prefix; only its exact settings remove it. So remove first. */
    gone = only ? json_array_without(stored, routes, "Settings") : NULL;
    missing = json_array_without(routes, stored, "Settings");
    json_each(gone, i, policy)
        if (modify(host, network.id, false, policy, err) < 0)
            return -1;
    json_each(missing, i, policy) /* A failed route does not stop the others. */
        if (modify(host, network.id, true, policy, &why) < 0 && !first.kind)
            first = why;
    return first.kind ? error_pass(err, &first) : 0;
}
