/* Reads other nodes, and writes and removes the routes to their Pods. */
#include "netsetup/routes/routes.h"

#include "netsetup/agents/agent.h"

/* Returns the first text of this family in a list; with `key`, the first InternalIP of objects. */
static const char *of_family(const json_t *list, const char *key, bool ipv6) {
    json_each(list, i, item) {
        const char *text = key ? json_text_at(item, key) : json_string_value(item);
        if (key && !text_equal(json_text_at(item, "type"), "InternalIP"))
            continue;
        if (text && (strchr(text, ':') != NULL) == ipv6)
            return text;
    }
    return NULL;
}

void network_peer_read(const json_t *node, struct network_peer *ret) {
    const json_t *annotations = json_object_get(json_object_get(node, "metadata"), "annotations");
    const json_t *prefixes = json_at(node, "spec.podCIDRs");
    const json_t *addresses = json_at(node, "status.addresses");
    *ret = (struct network_peer){
        .node = json_text_at(node, "metadata.name"),
        .pod_cidr =
            prefixes ? of_family(prefixes, NULL, false) : json_text_at(node, "spec.podCIDR"),
        .pod_cidr6 = of_family(prefixes, NULL, true),
        .node_address = of_family(addresses, "address", false),
        .node_address6 = of_family(addresses, "address", true),
    };
    for (size_t i = 0; network_agents[i] && !ret->announced; i++)
        ret->announced =
            network_agents[i]->read_peer && network_agents[i]->read_peer(annotations, ret);
}

json_t *node_routes_of_nodes(const struct network_plan *plan, const json_t *nodes,
                             const char *own) {
    json_t *list = json_array();
    json_each(json_object_get(nodes, "items"), i, node) {
        struct network_peer families[2];
        network_peer_read(node, &families[0]);
        if (!plan->mode->route_to || text_equal(families[0].node, own))
            continue;
        families[1] = (struct network_peer){.node = families[0].node,
                                            .pod_cidr = families[0].pod_cidr6,
                                            .node_address = families[0].node_address6};
        for (size_t k = 0; k < (plan->ipv6.on ? 2 : 1); k++) {
            _cleanup_json_ json_t *route = plan->mode->route_to(plan, &families[k]);
            if (route && json_array_size(list) < PEERS_MAX)
                json_array_append(list, route);
        }
    }
    return list;
}

int node_routes_read(struct host *host, const struct network_plan *plan, json_t **ret,
                     struct error *err) {
    _cleanup_json_ json_t *list = json_array();
    if (plan->writes_routes && plan->mode->routes_read &&
        plan->mode->routes_read(host, plan, list, err) < 0)
        return error_prefix(err, "record the routes to other nodes");
    *ret = take_ptr(list);
    return 0;
}

int node_routes_write(struct host *host, const struct network_plan *plan, const json_t *peers,
                      bool only, struct error *err) {
    if (!plan->mode->routes_write || (!only && !json_array_size(peers)))
        return 0;
    if (plan->mode->routes_write(host, plan, peers, only, err) < 0)
        return error_prefix(err, "write the routes to other nodes");
    return 0;
}

int node_routes_remove(struct host *host, const struct network_plan *plan, const json_t *peers,
                       struct error *err) {
    if (json_array_size(peers) && plan->mode->routes_remove &&
        plan->mode->routes_remove(host, plan, peers, err) < 0)
        return error_prefix(err, "remove the routes to other nodes");
    return 0;
}
