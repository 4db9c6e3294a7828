/* azure-vnet of github.com/Azure/azure-container-networking: it makes the HNS network "azure" with
 * the first pod, on the adapter that has the node's subnet, and asks its own IPAM for addresses.
 * Policies are in HNS version 1's form (network/policy/policy_windows.go). It keeps what it made in
 * its working directory, which is containerd's. Sources: its cni/netconfig.go and
 * cni/azure-windows.conflist; Azure/AgentBaker, Set-AzureCNIConfig. */
#include "netsetup/agents/agent.h"
#include "netsetup/plugins/cni_plugin.h"

/* Of Azure's hosts: pods must not reach this address, from which the virtual machine's agent gets
 * its settings. */
#define WIRE_SERVER "168.63.129.16/32"

static void add(json_t *list, json_t *policy) {
    json_array_append_new(list, json_pack("{s:s,s:o}", "Name", "EndpointPolicy", "Value", policy));
}

static json_t *config_json(const struct network_plan *plan) {
    static const char *const ports[] = {"80", "32526"}, *const directions[] = {"In", "Out"};
    const char *ipam = plan->agent->ipam;
    json_t *list = json_array(), *plugin;
    add(list, json_pack("{s:s,s:o}", "Type", "OutBoundNAT", "ExceptionList",
                        json_texts(&plan->nat_exceptions)));
    /* With loopback DSR no route leads to Services: their load balancers see all. */
    for (size_t i = 0; !plan->dsr && i < plan->service_cidrs.count; i++)
        add(list, json_pack("{s:s,s:s,s:b}", "Type", "ROUTE", "DestinationPrefix",
                            plan->service_cidrs.items[i], "NeedEncap", 1));
    for (size_t i = 0; i < ARRAY_SIZE(ports); i++)
        add(list, json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:i,s:s}", "Type", "ACL", "Protocols", "6",
                            "Action", "Block", "Direction", "Out", "RemoteAddresses", WIRE_SERVER,
                            "RemotePorts", ports[i], "Priority", 200, "RuleType", "Switch"));
    for (size_t i = 0; i < ARRAY_SIZE(directions); i++)
        add(list, json_pack("{s:s,s:s,s:s,s:i}", "Type", "ACL", "Action", "Allow", "Direction",
                            directions[i], "Priority", 65500));
    plugin = json_pack("{s:s,s:s,s:{s:b,s:b},s:{s:s},s:o,s:o}", "type", plan->cni_plugin, "mode",
                       network_agent_backend(plan->agent, plan->mode), "capabilities", "dns", 1,
                       "portMappings", 1, "ipam", "type", ipam ? ipam : "azure-vnet-ipam", "dns",
                       cni_dns_json(plan), "AdditionalArgs", list);
    if (ipam) /* as cni/azure-windows-swift.conflist */
        json_object_set_new(plugin, "executionMode", json_string("v4swift"));
    if (plan->dsr)
        json_object_set_new(plugin, "windowsSettings", json_pack("{s:b}", "enableLoopbackDSR", 1));
    return json_pack("{s:s,s:s,s:[o]}", "cniVersion", "0.3.0", "name", plan->name, "plugins",
                     plugin);
}

/* Since 8e8a5fd (#3113) `mode` is not looked at any more. */
static int check_version(const struct network_plan *plan, const char *version, struct error *err) {
    unsigned major = 0, minor = 0, patch = 0;
    /* NOLINTNEXTLINE(cert-err34-c): what is no number stays 0 */
    int read = sscanf(version, "v%u.%u.%u", &major, &minor, &patch);

    if (!text_equal(network_agent_backend(plan->agent, plan->mode), "tunnel") || read < 3 ||
        major < 1 || (major == 1 && (minor < 6 || (minor == 6 && patch < 16))))
        return 0;
    (void)error_set(err, ERROR_UNSUPPORTED,
                    "azure-vnet %s makes no network of mode '%s': versions before v1.6.16 do",
                    version, plan->mode->name);
    return error_hint(err, "use --network-mode l2bridge, or an older azure-vnet.exe");
}

const struct cni_plugin cni_plugin_azure_vnet = {
    .name = "azure-vnet",
    .config = config_json,
    .list = true,
    .ipam = "azure-vnet-ipam",
    .files = (const char *const[]){AZURE_STATE_FILES, AZURE_FOLDER "azure-vnet.log",
                                   AZURE_FOLDER "azure-vnet-ipam.log", NULL},
    .check_version = check_version,
};
