/* What a node has beside HNS' endpoints: routes to pods of other nodes, a second kube-proxy. */
#include "diag/drift/kinds.h"

#include "base/cidr.h"
#include "kube/object.h"
#include "netsetup/routes/peers.h"

#define REMOTE_ROUTE "RemoteSubnetRoute"

/* ---- routes ---- */

/* The pod subnets of all nodes; false where one does not say its own yet. */
static bool read_subnets(const json_t *nodes, struct text_table *ret) {
    bool all = true;

    json_each(json_object_get(nodes, "items"), i, node) {
        struct network_peer peer;

        network_peer_read(node, &peer);
        all = all && peer.pod_cidr;
        drift_put(ret, peer.pod_cidr);
        drift_put(ret, peer.pod_cidr6);
    }
    return all && ret->count;
}

static void add_route(struct text_table *subnets, const char *prefix, const char *by,
                      const char *in, json_t *rows) {
    if (prefix && !drift_has(subnets, prefix))
        json_array_append_new(rows,
                              json_pack("{s:s, s:s*, s:s}", "prefix", prefix, "by", by, "in", in));
}

/* A part of the pods' prefix: the whole one is routed by others. */
static bool is_of_pods(const struct text_list *prefixes, const char *text) {
    struct cidr inner, outer;

    for (size_t i = 0; prefixes && i < prefixes->count; i++)
        if (cidr_parse(prefixes->items[i], &outer, NULL) == 0 &&
            cidr_parse(text, &inner, NULL) == 0 && cidr_contains_cidr(&outer, &inner) &&
            inner.length > outer.length)
            return true;
    return false;
}

void drift_find_nodeless_routes(const struct drift_seen *seen, struct drift_index *, json_t *rows) {
    _cleanup_(text_table_free) struct text_table subnets = {0};

    if (!read_subnets(seen->nodes, &subnets))
        return;
    json_each(seen->networks, i, network)
        json_each(json_object_get(network, "Policies"), k, policy)
            if (text_equal_nocase(json_text_at(policy, "Type"), REMOTE_ROUTE))
                add_route(&subnets, json_text_at(policy, "Settings.DestinationPrefix"),
                          json_text_at(policy, "Settings.ProviderAddress"), "HNS", rows);
    for (size_t i = 0; seen->routes && i < seen->routes->count; i++) {
        const struct host_route *route = &seen->routes->items[i];

        if (!text_equal(route->next_hop, "0.0.0.0") && !text_equal(route->next_hop, "::") &&
            is_of_pods(seen->pod_cidrs, route->destination))
            add_route(&subnets, route->destination, route->next_hop, "Windows", rows);
    }
}

/* ---- kube-proxy ---- */

static bool runs_kube_proxy(const json_t *container) {
    static const char *const lists[] = {"command", "args"};

    if (strstr(json_text_or(container, "image", ""), "kube-proxy"))
        return true;
    for (size_t k = 0; k < ARRAY_SIZE(lists); k++)
        json_each(json_object_get(container, lists[k]), i, word)
            if (json_is_string(word) && strstr(json_string_value(word), "kube-proxy.exe"))
                return true;
    return false;
}

void drift_find_kube_proxies(const struct drift_seen *seen, struct drift_index *, json_t *rows) {
    json_each(json_object_get(seen->cluster ? seen->cluster->pods : NULL, "items"), i, pod) {
        bool runs = false;
        _cleanup_(freep) char *name = kube_full_name(pod);

        json_each(json_at(pod, "spec.containers"), k, container)
            runs |= runs_kube_proxy(container);
        if (runs && text_equal(json_text_at(pod, "status.phase"), "Running"))
            json_array_append_new(rows, json_pack("{s:s}", "pod", name));
    }
}
