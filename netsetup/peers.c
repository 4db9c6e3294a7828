/* Other nodes' pods: remembered and laid again. */
#include "netsetup/peers.h"

#include <stdlib.h>

#include "base/memory.h"
#include "netsetup/agents/agent.h"
#include "netsetup/hcn_network.h"
#include "netsetup/nic.h"
#include "netsetup/routes.h"

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

static bool is_remote_subnet(const json_t *policy) {
    return text_equal_nocase(json_text_at(policy, "Type"), "RemoteSubnetRoute");
}

static int read_policies(struct host *host, const struct network_plan *plan, json_t *list,
                         struct error *err) {
    struct hcn_network network = {0};
    _cleanup_json_ json_t *document = NULL;
    json_t *policy;
    size_t i;
    if (hcn_network_find_json(host, plan->name, &network, &document, err) < 0)
        return -1;
    json_array_foreach(json_object_get(document, "Policies"), i, policy) {
        if (is_remote_subnet(policy))
            json_array_append(list, policy);
    }
    return 0;
}

/* Into the cluster's pods, but not to this node's own. */
static bool leads_to_pods(const struct network_plan *plan, const struct host_route *route) {
    struct cidr destination = {0}, pods = {0};
    if (cidr_parse(route->destination, &destination, NULL) < 0 ||
        text_equal(route->destination, plan->pod_cidr) || text_equal(route->next_hop, "0.0.0.0"))
        return false;
    for (size_t i = 0; i < plan->cluster_pod_cidrs.count; i++) {
        if (cidr_parse(plan->cluster_pod_cidrs.items[i], &pods, NULL) == 0 &&
            cidr_contains_cidr(&pods, &destination))
            return true;
    }
    return false;
}

static int read_routes(struct host *host, const struct network_plan *plan, json_t *list,
                       struct error *err) {
    _cleanup_(host_routes_free) struct host_routes routes = {0};
    uint32_t index = 0;
    if (nic_index_of(host, plan->management_address, &index, err) < 0 ||
        host_routes(host, &routes, err) < 0)
        return -1;
    for (size_t i = 0; i < routes.count; i++) {
        const struct host_route *route = &routes.items[i];
        if (route->interface_index == index && leads_to_pods(plan, route))
            json_array_append_new(list, json_pack("{s:s,s:s}", "podCIDR", route->destination,
                                                  "nodeAddress", route->next_hop));
    }
    return 0;
}

int peers_read(struct host *host, const struct network_plan *plan, json_t **ret,
               struct error *err) {
    _cleanup_json_ json_t *list = json_array();
    if (plan->plugin != NETWORK_FLANNEL &&
        (plan->mode == NETWORK_OVERLAY ? read_policies(host, plan, list, err)
                                       : read_routes(host, plan, list, err)) < 0)
        return error_prefix(err, "remember the ways to other nodes");
    *ret = take_ptr(list);
    return 0;
}

static int lay_policies(struct host *host, const struct network_plan *plan, const json_t *peers,
                        struct error *err) {
    struct hcn_network network = {0};
    _cleanup_json_ json_t *document = hcn_pod_network_json(plan);
    json_t *policy;
    size_t i;
    json_array_foreach(peers, i, policy) {
        if (!is_remote_subnet(policy) || !json_is_object(json_object_get(policy, "Settings")))
            return error_set(err, ERROR_MALFORMED, "decode peers: no RemoteSubnetRoute");
    }
    return hcn_network_ensure(host, document, peers, &network, NULL, err);
}

static int lay_routes(struct host *host, const struct network_plan *plan, const json_t *peers,
                      struct error *err) {
    size_t count = json_array_size(peers);
    _cleanup_(freep) struct pod_route *routes = xcalloc(count, sizeof(*routes));
    for (size_t i = 0; i < count; i++) {
        const json_t *peer = json_array_get(peers, i);
        const char *pods = json_text_at(peer, "podCIDR"), *node = json_text_at(peer, "nodeAddress");
        if (!pods || !node || text_format(routes[i].pod_cidr, CIDR_TEXT_MAX, "%s", pods) < 0 ||
            text_format(routes[i].node_address, IP_TEXT_MAX, "%s", node) < 0)
            return error_set(err, ERROR_MALFORMED, "decode peers: no podCIDR and nodeAddress");
    }
    return pod_routes_ensure(host, plan->management_address, routes, count, NULL, err);
}

int peers_lay(struct host *host, const struct network_plan *plan, const json_t *peers,
              struct error *err) {
    if (!json_array_size(peers))
        return 0;
    if ((plan->mode == NETWORK_OVERLAY ? lay_policies(host, plan, peers, err)
                                       : lay_routes(host, plan, peers, err)) < 0)
        return error_prefix(err, "lay the ways to other nodes");
    return 0;
}
