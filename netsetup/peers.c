/* Other nodes and the routes to their pods. */
#include "netsetup/peers.h"

#include "base/memory.h"
#include "netsetup/agents/agent.h"

enum { PEERS_MAX = 5000 };

void network_peer_read(const json_t *node, struct network_peer *ret) {
    const json_t *annotations = json_object_get(json_object_get(node, "metadata"), "annotations");
    const char *pod_cidr = json_text_at(node, "spec.podCIDR");
    json_t *address;
    size_t i, count;
    const struct network_agent *const *agents = network_agents(&count);
    *ret = (struct network_peer){
        .node = json_text_at(node, "metadata.name"),
        .pod_cidr = pod_cidr ? pod_cidr : json_text_at(node, "spec.podCIDRs.0"),
    };
    json_array_foreach(json_at(node, "status.addresses"), i, address) {
        if (!ret->node_address && text_equal(json_text_at(address, "type"), "InternalIP"))
            ret->node_address = json_text_at(address, "address");
    }
    for (i = 0; i < count && !ret->announced; i++)
        ret->announced = agents[i]->read_peer && agents[i]->read_peer(annotations, ret);
}

json_t *peers_of_nodes(const struct network_plan *plan, const json_t *nodes, const char *own) {
    json_t *list = json_array(), *node;
    struct network_peer peer;
    size_t i;
    json_array_foreach(json_object_get(nodes, "items"), i, node) {
        network_peer_read(node, &peer);
        bool wanted = plan->mode->route_to && !text_equal(peer.node, own);
        json_t *route = wanted ? plan->mode->route_to(plan, &peer) : NULL;
        if (route && json_array_size(list) < PEERS_MAX)
            json_array_append(list, route);
        json_decref(route);
    }
    return list;
}

int peers_read(struct host *host, const struct network_plan *plan, json_t **ret,
               struct error *err) {
    _cleanup_json_ json_t *list = json_array();
    if (!plan->agent->keeps_routes && plan->mode->routes_read &&
        plan->mode->routes_read(host, plan, list, err) < 0)
        return error_prefix(err, "record the routes to other nodes");
    *ret = take_ptr(list);
    return 0;
}

int peers_write(struct host *host, const struct network_plan *plan, const json_t *peers, bool only,
                struct error *err) {
    if (!plan->mode->routes_write || (!only && !json_array_size(peers)))
        return 0;
    if (plan->mode->routes_write(host, plan, peers, only, err) < 0)
        return error_prefix(err, "write the routes to other nodes");
    return 0;
}
