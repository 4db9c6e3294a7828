/* nat, sdnbridge and sdnoverlay of github.com/microsoft/windows-container-networking. One program
 * under three names: `type` chooses the HNS network that it makes when none has the name, so the
 * join makes the network first; one that stands is used whatever its type (common/core/network.go,
 * getOrCreateNetwork), which is how sdnbridge serves L2Tunnel and Transparent.
 *
 * Of `ipam` only type, environment, addressSpace, subnet, ipAddress, queryInterval and routes are
 * read and handed on (cni/cni.go, IpamConfig): no ranges, no gateway, no dataDir; with
 * enableDualStack all of it is, and the gateways are host-local's. Without a type HNS chooses the
 * address. wincni.log is opened in the working directory, which the plugin has from
 * containerd; without that it ends at once. */
#include "netsetup/netsetup.h"
#include "netsetup/modes/mode.h"
#include "netsetup/plugins/cni_plugin.h"

/* The version that their own examples have; 0.3.0, 0.4.0 and 1.0.0 are taken, too. */
#define CNI_VERSION "0.2.0"

/* In containerd's working directory: that of a service that is no other's. */
static const char *const files[] = {"C:\\Windows\\System32\\wincni.log", NULL};

static json_t *range_json(const char *subnet, const char *start, const char *end,
                          const char *gateway) {
    return json_pack("[{s:s,s:s,s:s*,s:s}]", "subnet", subnet, "rangeStart",
                     *start ? start : subnet, "rangeEnd", *end ? end : NULL, "gateway",
                     *gateway ? gateway : subnet);
}

static json_t *config_json(const struct network_plan *plan) {
    const struct cni_plugin *plugin = cni_plugin_by_name(plan->cni_plugin);
    _cleanup_json_ json_t *policies = cni_policies_json(plan);
    const struct network_ipv6 *ipv6 = &plan->ipv6;
    json_t *config =
        json_pack("{s:s,s:s,s:s,s:{s:b,s:b},s:{s:b,s:b}}", "cniVersion", CNI_VERSION, "name",
                  plan->name, "type", plan->cni_plugin, "capabilities", "dns", 1, "portMappings", 1,
                  "optionalFlags", "forceBridgeGateway", plan->host_endpoint_name && !ipv6->on,
                  "loopbackDSR", plan->dsr && plan->mode->vfp);
    json_t *ipam;
    json_object_set_new(config, "dns", cni_dns_json(plan));
    if (ipv6->on) {
        json_object_set_new(json_object_get(config, "optionalFlags"), "enableDualStack",
                            json_true());
        /* A range of each family; the gateways are the host's endpoint, which host-local keeps
         * out. */
        ipam = json_pack(
            "{s:s,s:s,s:[o,o]}", "type", "host-local", "dataDir", CNI_STATE_DIR, "ranges",
            range_json(plan->pod_cidr, plan->range_start, plan->range_end, plan->host_endpoint),
            range_json(ipv6->pod_cidr, ipv6->range_start, "", ipv6->host_endpoint));
    } else {
        /* The default route of a pod: host-local answers with the prefix's first address as the
         * gateway, and without host-local (NULL) it is what stands here. */
        ipam = json_pack("{s:s*,s:s,s:[{s:s,s:s}]}", "type", plugin->ipam, "subnet", plan->pod_cidr,
                         "routes", "dst", "0.0.0.0/0", "GW",
                         plan->pod_cidr_known ? plan->gateway : plan->pod_cidr);
    }
    json_object_set_new(config, "ipam", ipam);
    if (plugin->names_provider)
        json_array_append_new(policies,
                              json_pack("{s:s,s:{s:s}}", "Type", "ProviderAddress", "Settings",
                                        "ProviderAddress", plan->management_address));
    json_each(policies, i, policy)
        json_array_append_new(json_array_in(config, "AdditionalArgs"),
                              json_pack("{s:s,s:O}", "Name", "EndpointPolicy", "Value", policy));
    return config;
}

/* forceBridgeGateway writes 2 as the last number of the prefix (common/core/network.go). */
static int check_bridge(const struct network_plan *plan, struct error *err) {
    struct cidr pods = {0};
    if (!plan->host_endpoint_name || plan->ipv6.on || cidr_parse(plan->pod_cidr, &pods, NULL) < 0 ||
        !pods.base.bytes[3])
        return 0;
    (void)error_set(err, ERROR_UNSUPPORTED,
                    "network plugin 'sdnbridge' cannot serve pod prefix %s: it takes %u.%u.%u.2 "
                    "for the gateway, the host's endpoint is %s",
                    plan->pod_cidr, pods.base.bytes[0], pods.base.bytes[1], pods.base.bytes[2],
                    plan->host_endpoint);
    return error_hint(err, "use --network-plugin win-bridge, or pod prefixes of /24 or larger");
}

const struct cni_plugin cni_plugin_sdnbridge = {.name = "sdnbridge",
                                                .config = config_json,
                                                .ipam = "host-local",
                                                .drops_ranges = true,
                                                .files = files,
                                                .check = check_bridge};
const struct cni_plugin cni_plugin_sdnoverlay = {.name = "sdnoverlay",
                                                 .config = config_json,
                                                 .names_provider = true,
                                                 .ipam = "host-local",
                                                 .files = files};
const struct cni_plugin cni_plugin_nat = {.name = "nat", .config = config_json, .files = files};
