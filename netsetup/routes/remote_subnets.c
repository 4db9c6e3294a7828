/* Routes to other nodes' pods over VXLAN. */
#include "netsetup/routes/remote_subnets.h"

#include "netsetup/hns/hcn_network.h"

#define TYPE "RemoteSubnetRoute"

json_t *remote_subnet_to(const struct network_plan *plan, const struct network_peer *peer) {
    if (!peer->pod_cidr || !peer->address || !*peer->router_mac)
        return NULL;
    return hcn_policy_json(TYPE, json_pack("{s:s,s:I,s:s,s:s}", "DestinationPrefix", peer->pod_cidr,
                                           "IsolationId", (json_int_t)plan->vni, "ProviderAddress",
                                           peer->address, "DistributedRouterMacAddress",
                                           peer->router_mac));
}

static bool is_route(const json_t *policy) {
    return text_equal_nocase(json_text_at(policy, "Type"), TYPE);
}

static int read_network(struct host *host, const struct network_plan *plan,
                        struct hcn_network *ret_network, json_t *list, struct error *err) {
    _cleanup_json_ json_t *document = NULL;
    if (hcn_network_find_json(host, plan->name, ret_network, &document, err) < 0)
        return -1;
    json_each(json_object_get(document, "Policies"), i, policy)
        if (is_route(policy))
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
    json_each(routes, i, policy)
        if (!is_route(policy) || !json_is_object(json_object_get(policy, "Settings")))
            return error_set(err, ERROR_MALFORMED, "decode peers: no " TYPE);
    if (read_network(host, plan, &network, stored, err) < 0)
        return -1;
    /* removals first: HNS takes one route a prefix, and only the stored settings remove it */
    gone = only ? json_array_without(stored, routes, "Settings") : NULL;
    missing = json_array_without(routes, stored, "Settings");
    json_each(gone, i, policy)
        if (modify(host, network.id, false, policy, err) < 0)
            return -1;
    json_each(missing, i, policy)
        if (modify(host, network.id, true, policy, err) < 0)
            return -1;
    return 0;
}
