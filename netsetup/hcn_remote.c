/* Overlay: the routes to other nodes' pods are policies of the network. */
#include <string.h>

#include "base/memory.h"
#include "netsetup/hcn_network.h"

static int modify(struct host *host, const char *id, bool add, json_t *policy, struct error *err) {
    _cleanup_json_ json_t *request = hcn_modify_policy_json(add, json_incref(policy));
    _cleanup_(freep) char *text = json_write(request);
    if (hcn_modify(host, HCN_NETWORK, id, text, err) == 0)
        return 0;
    return error_prefix(err, "%s route to pods of %s", add ? "add" : "remove",
                        json_text_at(policy, "Settings.DestinationPrefix"));
}

static bool listed(const json_t *policies, const json_t *policy) {
    json_t *item;
    size_t i;
    json_array_foreach(policies, i, item) {
        if (json_equal(json_object_get(item, "Settings"), json_object_get(policy, "Settings")))
            return true;
    }
    return false;
}

int hcn_remote_subnets_ensure(struct host *host, const char *network_name,
                              const struct hcn_remote_subnet *remotes, size_t count,
                              struct error *err) {
    struct hcn_network network = {0};
    _cleanup_json_ json_t *document = NULL;
    _cleanup_json_ json_t *wanted = json_array();
    _cleanup_json_ json_t *stored = json_array();
    json_t *policy;
    size_t i;
    if (hcn_network_find_json(host, network_name, &network, &document, err) < 0)
        return -1;
    for (i = 0; i < count; i++)
        json_array_append_new(wanted, hcn_remote_subnet_json(&remotes[i]));
    json_array_foreach(json_object_get(document, "Policies"), i, policy) {
        if (text_equal_nocase(json_text_at(policy, "Type"), "RemoteSubnetRoute"))
            json_array_append(stored, policy);
    }
    /* removals first: HNS takes one route a prefix, and only the stored settings remove it */
    json_array_foreach(stored, i, policy) {
        if (!listed(wanted, policy) && modify(host, network.id, false, policy, err) < 0)
            return -1;
    }
    json_array_foreach(wanted, i, policy) {
        if (!listed(stored, policy) && modify(host, network.id, true, policy, err) < 0)
            return -1;
    }
    return 0;
}
