/* Azure CNI: azure-vnet makes the HNS network when the first Pod starts, and Azure's virtual
 * network routes to every Pod. Addresses come from azure-vnet-ipam, which asks the host of the
 * virtual machine, or from the DaemonSet azure-cns. Sources: Azure/azure-container-networking
 * (network/manager.go, network/network_windows.go); Azure/AgentBaker (azurecnifunc, cleanupnetwork,
 * windowsnodereset). */
#include "netsetup/plugins/cni_plugin.h"

#include "netsetup/agents/agent.h"
#include "netsetup/hns/hcn_network.h"
#include "services/service_table.h"

#define NETWORK "azure"
enum { STATE_MAX = 16 * 1024 * 1024 };

static const char *const networks[] = {NETWORK, NULL};
static const struct agent_registry registry = {"SYSTEM\\CurrentControlSet\\Services\\hns\\State",
                                               "SDNRemoteArpMacAddress", "12-34-56-78-9a-bc",
                                               "Azure's virtual network answers ARP with it"};

/* The modes, with the values of the key "mode" in azure-vnet's configuration. */
static const struct agent_backend backends[] = {
    {"l2bridge", "bridge"}, {"l2tunnel", "tunnel"}, {0}};

/* Does azure-vnet's state file name the HNS network that exists? azure-vnet keeps the id of its
 * network and never looks for it again, so with another network or none every Pod fails
 * (0x803b0001). */
static int is_current(const struct network_restore *restore, bool *ret, struct error *err) {
    _cleanup_(freep) char *state = NULL;
    struct hcn_network network;
    struct error why = {0};
    size_t len = 0;
    bool there = host_read(restore->host, AZURE_STATE_FILE, STATE_MAX, &state, &len, &why) == 0;

    /* Without state azure-vnet itself finds or makes the network. */
    *ret = why.kind == ERROR_ABSENT;
    if (*ret)
        return 0;
    if (!there && why.kind != ERROR_MALFORMED)
        return error_pass(err, &why);
    if (hcn_network_find(restore->host, NETWORK, &network, &why) == 0)
        *ret = there && strstr(state, network.id);
    else if (why.kind != ERROR_ABSENT)
        return error_pass(err, &why);
    return 0;
}

static int restore(const struct network_restore *restore, struct error *err) {
    static const char *const files[] = {AZURE_STATE_FILES};
    _cleanup_(host_service_free) struct host_service containerd = {0};
    bool stopped = host_service_query(restore->host, service_containerd.name, &containerd,
                                      ERROR_IGNORED) == 0 &&
                   containerd.state != HOST_SERVICE_RUNNING;
    bool before_pods =
        restore->booting && stopped; /* No Pod of this Windows start has an address yet. */
    bool removed = false, current = false;
    size_t count = 0;

    if (!before_pods && (is_current(restore, &current, err) < 0 || current))
        return current ? 0 : -1;
    if (hcn_network_remove(restore->host, NETWORK, false, &removed, err) < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        if (host_file_type(restore->host, files[i]) == HOST_ABSENT)
            continue;
        if (host_remove(restore->host, files[i], err) < 0)
            return -1;
        count++;
    }
    if (removed)
        text_list_add_owned(restore->did, xasprintf("removed the HNS network %s", NETWORK));
    if (count)
        text_list_add_owned(restore->did, xasprintf("removed %s's state", "azure-vnet"));
    return 0;
}

#define AZURE_AGENT                                                                                \
    .pods_make_network = true, .cni = "azure-vnet", .registry = &registry,                         \
    .network_name = NETWORK, .networks = networks, .keeps_routes = true, .nat_except_pods = true,  \
    .backends = backends, .restore = restore

const struct network_agent network_agent_azure_vnet = {.plugin = "azure-vnet", AZURE_AGENT};
const struct network_agent network_agent_azure_cns = {
    .plugin = "azure-cns", .ipam = "azure-cns", .daemon_set = "azure-cns-win", AZURE_AGENT};
