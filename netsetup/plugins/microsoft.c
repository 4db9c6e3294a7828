/* nat, sdnbridge and sdnoverlay of github.com/microsoft/windows-container-networking. They are one
 * program under three names. `type` chooses the kind of HNS network that it makes when none has the
 * name, so the join makes the network first. An existing network is used whatever its type is
 * (common/core/network.go, getOrCreateNetwork), so sdnbridge works with L2Tunnel and Transparent,
 * too.
 *
 * Of `ipam`, only type, environment, addressSpace, subnet, ipAddress, queryInterval and routes are
 * read and passed on (cni/cni.go, IpamConfig): no ranges, no gateway, no dataDir. With
 * enableDualStack all of it is passed on, and host-local assigns the gateways. Without a type HNS
 * chooses the address. The plugin opens wincni.log in its working directory, which is that of
 * containerd, and ends at once when it cannot. */
#include "netsetup/netsetup.h"
#include "netsetup/modes/mode.h"
#include "netsetup/plugins/cni_plugin.h"

/* The version in the plugin's own examples. It accepts 0.3.0, 0.4.0 and 1.0.0, too. */
#define CNI_VERSION "0.2.0"

/* Files in containerd's working directory, which is Windows' default for services. */
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
        /* One range for each family. The gateways are addresses of the host's endpoint, which
         * host-local does not assign. */
        ipam = json_pack(
            "{s:s,s:s,s:[o,o]}", "type", "host-local", "dataDir", CNI_STATE_DIR, "ranges",
            range_json(plan->pod_cidr, plan->range_start, plan->range_end, plan->host_endpoint),
            range_json(ipv6->pod_cidr, ipv6->range_start, "", ipv6->host_endpoint));
    } else {
        /* A Pod's default route. host-local answers with the first address of the prefix as
         * gateway; without host-local (NULL) this value is the gateway. */
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

/* Fails for prefixes where the gateway would be wrong: forceBridgeGateway replaces the last number
 * of the prefix by 2 (common/core/network.go). */
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
