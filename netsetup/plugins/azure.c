/* azure-vnet of github.com/Azure/azure-container-networking. It makes the HNS network "azure" for
 * the first Pod, on the adapter with the node's subnet, and gets addresses from its own IPAM. Its
 * policies have the form of HNS version 1 (network/policy/policy_windows.go). It keeps its state in
 * its working directory, which is that of containerd. Sources: cni/netconfig.go and
 * cni/azure-windows.conflist there; Azure/AgentBaker, Set-AzureCNIConfig. */
#include "netsetup/agents/agent.h"
#include "netsetup/plugins/cni_plugin.h"

/* An address of Azure's hosts, from which the agent of the virtual machine gets its settings. Pods
 * must not reach it. */
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
    /* With loopback DSR Services need no route, since their load balancers see all packets. */
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
    if (ipam) /* The same value is in cni/azure-windows-swift.conflist. */
        json_object_set_new(plugin, "executionMode", json_string("v4swift"));
    if (plan->dsr)
        json_object_set_new(plugin, "windowsSettings", json_pack("{s:b}", "enableLoopbackDSR", 1));
    return json_pack("{s:s,s:s,s:[o]}", "cniVersion", "0.3.0", "name", plan->name, "plugins",
                     plugin);
}

/* Fails for a mode that this version cannot make: since 8e8a5fd (#3113) azure-vnet ignores
 * `mode`. */
static int check_version(const struct network_plan *plan, const char *version, struct error *err) {
    unsigned major = 0, minor = 0, patch = 0;
    /* NOLINTNEXTLINE(cert-err34-c): a part that is no number stays 0. */
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
