/* win-overlay and win-bridge of github.com/containernetworking/plugins, with host-local. Neither
 * makes an HNS network, so it must exist before the first Pod. Source: plugins/main/windows. */
#include "netsetup/netsetup.h"
#include "netsetup/plugins/cni_plugin.h"

/* Uses apiVersion 2, since containerd passes the GUID of a namespace, which apiVersion 1 of the
 * plugins does not understand. ProviderAddress is not in the list: win-overlay adds that of the
 * network. */
static json_t *config_json(const struct network_plan *plan) {
    json_t *config = json_pack("{s:s,s:s,s:s,s:i,s:{s:b,s:b}}", "cniVersion", "1.0.0", "name",
                               plan->name, "type", plan->cni_plugin, "apiVersion", 2,
                               "capabilities", "dns", 1, "portMappings", 1);
    _cleanup_json_ json_t *policies = cni_policies_json(plan);
    json_t *list = json_array();
    bool known = plan->pod_cidr_known;

    if (plan->dsr)
        json_object_set_new(config, "loopbackDSR", json_true());
    json_object_set_new(config, "dns", cni_dns_json(plan));
    json_object_set_new(config, "ipam",
                        json_pack("{s:s,s:s,s:[[{s:s,s:s,s:s,s:s}]]}", "type", "host-local",
                                  "dataDir", CNI_STATE_DIR, "ranges", "subnet", plan->pod_cidr,
                                  "rangeStart", known ? plan->range_start : plan->pod_cidr,
                                  "rangeEnd", known ? plan->range_end : plan->pod_cidr, "gateway",
                                  known ? plan->gateway : plan->pod_cidr));
    json_each(policies, i, policy)
        json_array_append_new(list,
                              json_pack("{s:s,s:O}", "name", "EndpointPolicy", "value", policy));
    json_object_set_new(config, "policies", list);
    return config;
}

const struct cni_plugin cni_plugin_win_overlay = {
    .name = "win-overlay", .config = config_json, .ipam = "host-local"};
const struct cni_plugin cni_plugin_win_bridge = {
    .name = "win-bridge", .config = config_json, .ipam = "host-local"};
