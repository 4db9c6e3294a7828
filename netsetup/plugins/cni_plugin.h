/* A CNI plugin is one constant: how the configuration is written that containerd hands to its
 * program. A new one is a constant in the file of its family and a row in CNI_PLUGINS. */
#pragma once

#include "netsetup/plan/network_plan.h"

struct cni_plugin {
    const char *name; /* `type` in the file and the name of its program: "win-overlay" */
    /* The configuration, a new reference. Values of an unknown pod prefix are "<podCIDR>". */
    json_t *(*config)(const struct network_plan *plan);
    /* host-local hears the prefix but no range from it: what no pod may get is reserved in
     * host-local's store (overlay: always) */
    bool drops_ranges;
    /* Its configuration names the node's own address: it does not ask the network for its
     * ProviderAddress, as win-overlay does. */
    bool names_provider;
    bool list;                /* its file is a list of plugins, .conflist */
    const char *ipam;         /* program that gives out pods' addresses; NULL: HNS does */
    const char *const *files; /* that its programs write in containerd's folder; NULL: none */
    /* Can it work with these addresses? ERROR_UNSUPPORTED. NULL: with all. */
    int (*check)(const struct network_plan *plan, struct error *err);
    /* Can this version ("v1.6.15") make what the plan says? ERROR_UNSUPPORTED. NULL: each can. */
    int (*check_version)(const struct network_plan *plan, const char *version, struct error *err);
};

/* The program that the agent's pods have their addresses from; NULL: none (`plugin` NULL, too). */
const char *cni_plugin_ipam(const char *plugin, const struct network_agent *agent);
/* NULL: none has that name. */
const struct cni_plugin *cni_plugin_by_name(const char *name);

/* The table: a row is the constant's name. */
#define CNI_PLUGINS(ROW)                                                                           \
    ROW(win_overlay)                                                                               \
    ROW(win_bridge)                                                                                \
    ROW(sdnoverlay)                                                                                \
    ROW(sdnbridge)                                                                                 \
    ROW(nat)                                                                                       \
    ROW(azure_vnet)
#define CNI_PLUGIN_DECLARE(plugin) extern const struct cni_plugin cni_plugin_##plugin;
CNI_PLUGINS(CNI_PLUGIN_DECLARE)

/* Parts of a configuration that all have. New references. */
json_t *cni_dns_json(const struct network_plan *plan);
/* Policies of a pod's endpoint as HCN has them: OutBoundNAT with its exceptions, then an SDNRoute
 * for each prefix whose packets a load balancer sees; empty where the mode's switch has none. */
json_t *cni_policies_json(const struct network_plan *plan);

/* ---- what Azure's plugin leaves on a node; shared by its row and its agents' ---- */

/* Its working directory is containerd's, which a service has from Windows. */
#define AZURE_FOLDER "C:\\Windows\\System32\\"
/* What it knows of networks, addresses (cni/plugin.go, store/json.go; *.json.lock: before 1.2). */
#define AZURE_STATE_FILE AZURE_FOLDER "azure-vnet.json"
#define AZURE_STATE_FILES                                                                          \
    AZURE_STATE_FILE, AZURE_FOLDER "azure-vnet.lock", AZURE_FOLDER "azure-vnet.json.lock",         \
        AZURE_FOLDER "azure-vnet-ipam.json", AZURE_FOLDER "azure-vnet-ipam.lock",                  \
        AZURE_FOLDER "azure-vnet-ipam.json.lock", "C:\\k\\azurecns\\azure-endpoints.json"
