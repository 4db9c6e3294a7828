/* A network agent is the program that gives this node the routes to other nodes' Pods. Each is one
 * constant, which says what the agent needs on the node and what it publishes in the cluster. A new
 * agent is a file with its constant and a row in NETWORK_AGENTS; no other code compares agents. */
#pragma once

#include "netsetup/modes/mode.h"
#include "netsetup/plan/network_plan.h"
#include "netsetup/routes/routes.h"

struct daemon_set_agent; /* The struct is defined in netsetup/agents/daemon_set_agent.h. */
struct linux_agent;

/* A key of a ConfigMap with the agent's settings. A table of these ends with {0}. */
struct agent_source {
    const char *name_space, *name, *key;
};
/* A right that the agent needs in the cluster. `verbs` are separated by commas. */
struct agent_right {
    const char *resource, *verbs;
};

/* The network settings found in a cluster. Text is owned; free with agent_settings_free(). */
struct agent_settings {
    /* The agent that was found; NULL when no agent was found in the cluster. */
    const struct network_agent *agent;
    /* The ConfigMap that has the settings; NULL means that the DaemonSet has them. */
    const struct agent_source *source;
    /* The DaemonSet's agent that makes the network, or NULL. */
    const struct daemon_set_agent *daemon_set_agent;
    /* The DaemonSet that runs the agent, e.g. "calico-system/calico-node-windows". */
    char *daemon_set;
    /* The Linux nodes' agent, set only when `agent` is NULL; NULL when no such agent was found. */
    const struct linux_agent *linux_agent;
    /* How that Linux agent was recognized, e.g. "DaemonSet kube-system/cilium". */
    char *linux_set;
    /* The DaemonSet that runs kube-proxy on Windows nodes. */
    char *kube_proxy;
    /* The agent does the work of kube-proxy, which must not run beside it. */
    bool proxies;
    char *backend; /* The agent's name of its mode, e.g. "vxlan", "host-gw". */
    /* winjoin's name of the agent's mode; NULL means that Windows has no such mode. */
    const char *mode;
    unsigned vni, vxlan_port;   /* VXLAN's VNI and UDP port; 0 when not given. */
    struct text_list pod_cidrs; /* The prefixes of all Pods; may be empty. */
    /* The prefixes of Services from the agent's settings; may be empty. */
    struct text_list service_cidrs;
    json_t *document; /* The whole document of the agent's settings. */
    /* The same document of the other nodes' agents, where theirs is another one. */
    json_t *others;
    /* Variables and data that the DaemonSet gives to its containers. */
    json_t *variables;
    /* This node's containerd; borrowed; NULL means winjoin's own. */
    const struct containerd_settings *containerd;
};

/* A text value under HKLM that HNS reads when it starts. */
struct agent_registry {
    const char *key, *value, *text, *why;
};

struct service; /* The struct is defined in services/service_table.h. */

/* The argument of an agent's restore function: how and why the network was restored. */
struct network_restore {
    struct host *host;
    const struct network_input *input;
    /* Windows is starting, so services with automatic start will start by themselves. */
    bool booting;
    /* winjoin made a lost Pod network again, now or in an earlier restore that failed later. */
    bool made;
    /* Texts for the event log of what was done, e.g. "restarted flanneld". */
    struct text_list *did;
};
/* Restarts a service of winjoin and adds that to `did`. Does nothing while Windows starts. */
int network_restore_service(const struct network_restore *restore, const struct service *service,
                            struct error *err);

/* The name of a network mode ("overlay"), and an agent's own name for it ("vxlan"). */
struct agent_backend {
    const char *mode, *word;
};

/* The constant of an agent. Text is static and lists end with NULL. A member that is NULL or 0 does
 * not apply to the agent. */
struct network_agent {
    /* Name in --network-plugin, e.g. "flannel"; NULL means the CNI plugin's name. */
    const char *plugin;
    const char *service;        /* The service (services/) that runs the agent, e.g. "flanneld". */
    const char *const *folders; /* Folders on this node; reset removes those that a join made. */
    /* The folder of the agent's own keys; a join restricts its access first. */
    const char *key_folder;
    const char *settings_path; /* Path of the agent's configuration file. */
    /* Makes the text of settings_path; the caller frees it. */
    char *(*settings_make)(const struct network_plan *plan);
    /* Path of the agent's kubeconfig, which uses the node's certificate. */
    const char *kubeconfig_path;
    const char *kubeconfig_user; /* The name of the user in kubeconfig_path. */
    const struct agent_right *rights;
    /* Who has these rights. NULL means nodes, since the agent uses the node's certificate.
     * Otherwise the agent requests a certificate of its own with this organization. */
    const char *group;
    /* Start of the name in the agent's own certificate; the node's name follows. */
    const char *user_prefix;
    unsigned vxlan_port; /* The only VXLAN port that the agent works with. */
    unsigned vni;        /* The VNI that the agent always uses. */
    /* The agent makes the HNS network itself, so a join waits for it and makes none. */
    bool makes_network;
    /* The most seconds that a join waits for the agent's network; 0 if it makes none. */
    unsigned wait_seconds;
    /* The agent's CNI plugin makes the HNS network on the base network when the first Pod comes,
     * and Pod addresses are not from the Node's podCIDR. A join makes no network for Pods. */
    bool pods_make_network;
    /* The CNI plugin that the agent works with; NULL means the mode's first one. */
    const char *cni;
    /* The IPAM that is built into the agent's CNI plugin instead of being a program; NULL when
     * the plugin has no built-in IPAM. */
    const char *ipam;
    /* Values that HNS must have read before it makes its first network. */
    const struct agent_registry *registry;
    /* The agent runs as a Pod and writes the CNI configuration, and the cluster brings kube-proxy.
     * A join makes neither of them. */
    bool in_cluster;
    /* Name of the HNS network that the agent makes, where it is always the same. */
    const char *network_name;
    /* Names of all networks that the agent makes. A reset deletes them in reverse order. */
    const char *const *networks;
    /* The Node annotation that has the prefix of the Node's Pods where that is not spec.podCIDR,
     * and the program that writes it. */
    const char *subnet_annotation, *subnet_giver;
    /* NAT has exceptions only for Services: Pods keep their own address towards these alone. */
    bool nat_except_services;
    /* NAT has exceptions only for Pods and the node's network, not for Services. */
    bool nat_except_pods;
    /* Name of the host's endpoint on the agent's network. HNS chooses the source VIP. */
    const char *source_vip_endpoint;
    bool unique_host_names; /* The agent identifies nodes by machineID, which is the host name. */
    bool keeps_routes;      /* The agent writes and removes the routes to other nodes' Pods. */

    /* The modes that the agent supports, with its names for them; the last row is zeros. NULL means
     * that the agent supports each mode with a switch on an adapter, by winjoin's name for it. */
    const struct agent_backend *backends;
    const struct agent_source *sources;
    /* The DaemonSet, in any namespace, by which an agent without ConfigMap is found. */
    const char *daemon_set;
    /* Reads the text of a source. Fails with ERROR_MALFORMED. */
    int (*read_settings)(const char *text, struct agent_settings *ret, struct error *err);
    /* Fails with ERROR_UNSUPPORTED, and a hint for the administrator, for settings that Windows
     * nodes do not support. */
    int (*check_settings)(const struct agent_settings *settings, struct error *err);
    /* Makes the annotations by which other nodes reach this node's Pods through `address`; new
     * reference. NULL means that the agent writes them itself, or needs none. */
    json_t *(*announce)(const struct network_plan *plan, const struct hcn_network *network,
                        const char *address);
    /* Reads what the agent announced about a node from its annotations; returns false where there
     * is nothing. */
    bool (*read_peer)(const json_t *annotations, struct network_peer *ret);
    /* Restores what the agent needs on this node. Called at boot before containerd starts, and
     * after each start of HNS, when winjoin's own networks are there again. It is called until it
     * succeeds, so it compares before it changes. */
    int (*restore)(const struct network_restore *restore, struct error *err);
};

/* The agents of this build (see the table below), NULL-terminated. */
extern const struct network_agent *const network_agents[];
/* Returns the agent whose name --network-plugin takes, or NULL. */
const struct network_agent *network_agent_by_plugin(const char *plugin);
/* Is the HNS network of this name one whose Pods need no NAT exceptions for each other? */
bool network_agent_excepts_services(const char *network);
/* Returns the agent's name for the mode ("vxlan"), static. NULL means that the agent does not
 * support the mode, or there is no agent. */
const char *network_agent_backend(const struct network_agent *agent,
                                  const struct network_mode *mode);
/* Will the agent write a route to that node's Pods? `vni` is that of this node's network. Agents
 * skip nodes of another backend, and nodes that have not announced yet how to reach them (for
 * VXLAN: an address, a router's MAC and the VNI). */
bool network_agent_routes_to(const struct network_agent *agent, const struct network_mode *mode,
                             unsigned vni, const struct network_peer *peer);
/* Returns the CNI plugin that the agent uses in this mode when --network-plugin is `plugin`.
 * Static; NULL when the agent does not support the mode. */
const char *network_agent_cni(const struct network_agent *agent, const char *plugin,
                              const struct network_mode *mode);
void agent_settings_free(struct agent_settings *settings);

/* ---- words of --network-mode and --network-plugin ---- */
/* Adds the words that --network-plugin takes, in the order of the tables. */
void network_plugin_names(struct text_list *ret);
/* Fail with ERROR_USAGE for a wrong word. The error lists the right words and guesses which was
 * meant, since agents and CNI plugins have their own names for these. */
int network_plugin_check(const char *name, struct error *err);
int network_mode_check(const char *name, struct error *err);

/* The table of agents. A row names the file and the constant (agents/flannel.c:
 * network_agent_flannel). */
#define NETWORK_AGENTS(ROW)                                                                        \
    ROW(none)                                                                                      \
    ROW(flannel)                                                                                   \
    ROW(external)                                                                                  \
    ROW(ovn_kubernetes)                                                                            \
    ROW(azure_vnet)                                                                                \
    ROW(azure_cns)
#define NETWORK_AGENT_DECLARE(agent) extern const struct network_agent network_agent_##agent;
NETWORK_AGENTS(NETWORK_AGENT_DECLARE)

/* A program that makes the Pod network of Linux nodes. If one is found without its Windows part, a
 * Windows node would get a separate network that is not connected to the cluster's. Text is
 * static. */
struct linux_agent {
    const char *title; /* The agent's name for messages, e.g. "Calico". */
    /* DaemonSets, in any namespace, that show the agent; NULL-terminated. */
    const char *const *daemon_sets;
    /* What the agent offers for Windows nodes, as the end of a sentence. */
    const char *windows;
    const char *remedy; /* What an administrator has to do first, before a join. */
    /* Remedy for one in kube-system, where a manifest installs it; or NULL. */
    const char *by_manifest;
    /* The annotation that Nodes have when its Windows part is enabled, and the plugin that this
     * part is; or NULL. */
    const char *annotation, *plugin;
};

/* The table of Linux agents; the last row has no title. */
extern const struct linux_agent linux_agents[];
/* A network without a known name, found by cluster_network_search(). */
extern const struct linux_agent linux_agent_unknown;

/* Returns the remedy for an agent that was recognized by linux_set ("DaemonSet
 * kube-system/calico-node"). Static. */
const char *linux_agent_remedy(const struct linux_agent *agent, const char *linux_set);

/* Makes the annotations by which flannel's nodes reach a node's Pods over VXLAN (flannel's
 * Documentation and pkg/subnet/kube): the MAC of the node's VTEP ("00-15-5D-.." as HNS writes it,
 * or with colons) and the node's address. New reference. */
json_t *flannel_announcement(unsigned vni, const char *router_mac, const char *address);
