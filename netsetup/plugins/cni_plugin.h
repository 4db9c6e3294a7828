/* A CNI plugin is one constant: how to write the configuration that containerd passes to its
 * program. A new plugin is a constant in the file of its family and a row in CNI_PLUGINS. */
#pragma once

#include "netsetup/plan/network_plan.h"

struct cni_plugin {
    const char *name; /* `type` in the file and name of its program: "win-overlay". */
    /* Makes the configuration, a new reference. Values of an unknown Pod prefix are "<podCIDR>". */
    json_t *(*config)(const struct network_plan *plan);
    /* host-local gets the prefix but no range, so addresses that no Pod may get are reserved in
     * host-local's store (with overlay always). */
    bool drops_ranges;
    /* The plugin's configuration has the node's own address. win-overlay instead asks the network
     * for its ProviderAddress. */
    bool names_provider;
    bool list;        /* The plugin's file is a list of plugins (.conflist). */
    const char *ipam; /* Program that assigns the Pods' addresses; NULL means that HNS does. */
    /* Files that the plugin's programs write in containerd's folder; NULL when they write none. */
    const char *const *files;
    /* Checks that the plugin can work with these addresses. Fails with ERROR_UNSUPPORTED. NULL
     * means that it works with all. */
    int (*check)(const struct network_plan *plan, struct error *err);
    /* Checks that this version ("v1.6.15") of the plugin can make what is planned. Fails with
     * ERROR_UNSUPPORTED. NULL means that every version can. */
    int (*check_version)(const struct network_plan *plan, const char *version, struct error *err);
};

/* Returns the program that assigns addresses to Pods of this agent; NULL when no program does.
 * `plugin` may be NULL. */
const char *cni_plugin_ipam(const char *plugin, const struct network_agent *agent);
/* Returns the plugin of this name, or NULL. */
const struct cni_plugin *cni_plugin_by_name(const char *name);

/* The table of plugins. A row is the name of the constant. */
#define CNI_PLUGINS(ROW)                                                                           \
    ROW(win_overlay)                                                                               \
    ROW(win_bridge)                                                                                \
    ROW(sdnoverlay)                                                                                \
    ROW(sdnbridge)                                                                                 \
    ROW(nat)                                                                                       \
    ROW(azure_vnet)
#define CNI_PLUGIN_DECLARE(plugin) extern const struct cni_plugin cni_plugin_##plugin;
CNI_PLUGINS(CNI_PLUGIN_DECLARE)

/* Makes the `dns` part, which all configurations share. New reference. */
json_t *cni_dns_json(const struct network_plan *plan);
/* Returns the HCN policies of a Pod's endpoint: OutBoundNAT with its exceptions, then an SDNRoute
 * for each prefix whose packets a load balancer must see. Empty where the mode has no VFP. New
 * reference. */
json_t *cni_policies_json(const struct network_plan *plan);

/* ---- files of Azure's plugin on a node; its plugin row and its agents use them ---- */

/* The working directory of azure-vnet is containerd's, which is Windows' default for services. */
#define AZURE_FOLDER "C:\\Windows\\System32\\"
/* azure-vnet keeps its networks and addresses here (cni/plugin.go, store/json.go). Versions before
 * 1.2 use *.json.lock. */
#define AZURE_STATE_FILE AZURE_FOLDER "azure-vnet.json"
#define AZURE_STATE_FILES                                                                          \
    AZURE_STATE_FILE, AZURE_FOLDER "azure-vnet.lock", AZURE_FOLDER "azure-vnet.json.lock",         \
        AZURE_FOLDER "azure-vnet-ipam.json", AZURE_FOLDER "azure-vnet-ipam.lock",                  \
        AZURE_FOLDER "azure-vnet-ipam.json.lock", "C:\\k\\azurecns\\azure-endpoints.json"
