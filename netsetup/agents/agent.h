/* A network agent is one constant: who tells this node the routes to other nodes' pods, what that
 * program needs on the node, and what it says of itself in the cluster. A new one is a file with
 * its constant and a row in NETWORK_AGENTS; nothing else asks which agent it is. */
#pragma once

#include "netsetup/modes/mode.h"
#include "netsetup/plan/network_plan.h"
#include "netsetup/routes/routes.h"

struct external_agent; /* netsetup/agents/external_agent.h */
struct linux_agent;

/* Where its settings stand in a cluster: key of a ConfigMap. A table ends with {0}. */
struct agent_source {
    const char *name_space, *name, *key;
};
/* What it may do in the cluster with the node's identity: verbs separated by commas. */
struct agent_right {
    const char *resource, *verbs;
};

/* What a cluster says of its network. Text is owned; agent_settings_free(). */
struct agent_settings {
    const struct network_agent *agent;     /* NULL: the cluster says nothing */
    const struct agent_source *source;     /* where it stood; NULL: with the DaemonSet */
    const struct external_agent *external; /* the one that makes the network; NULL: none known */
    char *daemon_set;                      /* that runs it: "calico-system/calico-node-windows" */
    const struct linux_agent *linux_agent; /* asked for where no agent is known; NULL: none */
    char *linux_set;                       /* by what it is known: "DaemonSet kube-system/cilium" */
    char *kube_proxy;                      /* the DaemonSet that runs kube-proxy on Windows nodes */
    bool proxies;                          /* it does kube-proxy's work: none must run beside it */
    char *backend;                  /* the agent's own word for its mode: "vxlan", "host-gw" */
    const char *mode;               /* that mode's name; NULL: none that Windows has */
    unsigned vni, vxlan_port;       /* 0 = not given */
    struct text_list pod_cidrs;     /* the prefixes of all pods; may be empty */
    struct text_list service_cidrs; /* of Services, in its settings; may be empty */
    json_t *document;               /* all of it */
    json_t *others;                 /* the same of other nodes' agents, where that is another one */
    json_t *told;                   /* to the containers of the DaemonSet: variables and data */
    const struct containerd_settings *containerd; /* of this node; borrowed; NULL: winjoin's own */
};

/* A text under HKLM that HNS reads as it starts. */
struct agent_registry {
    const char *key, *value, *text, *why;
};

struct service; /* services/service_table.h */

/* What an agent's function `restore` gets: how and why the network was made again. */
struct network_restore {
    struct host *host;
    const struct network_input *input;
    bool booting; /* Windows starts: services that start by themselves are on their way */
    /* the pod network was lost, and winjoin made it again: now, or before in a restore that
     * failed later */
    bool made;
    struct text_list *did; /* what was done, for the event log: "restarted flanneld" */
};
/* Restarts a service of ours and adds that to `did`; nothing while Windows starts. */
int network_restore_service(const struct network_restore *restore, const struct service *service,
                            struct error *err);

/* A network mode by its name ("overlay"), and an agent's own word for it ("vxlan"). */
struct agent_backend {
    const char *mode, *word;
};

/* Text is static, a list ends with NULL; what is NULL or 0 is not there. */
struct network_agent {
    const char *plugin;  /* as --network-plugin names it: "flannel"; NULL: the CNI plugin's name */
    const char *service; /* the service that runs it (services/): "flanneld" */
    const char *const *folders; /* on this node; removed by reset when a join made them */
    const char *key_folder;     /* where it keeps its own keys; a join makes it secret first */
    const char *settings_path;  /* its configuration, */
    char *(*settings_make)(const struct network_plan *plan); /* that file's text; freed by caller */
    const char *kubeconfig_path; /* its kubeconfig, with the node's certificate, */
    const char *kubeconfig_user; /* whose user has this name */
    const struct agent_right *rights;
    /* who has those rights: NULL: nodes, as it has the node's certificate; else it asks for a
     * certificate of its own, with this organization, */
    const char *group;
    const char *user_prefix; /* and this name, followed by the node's */
    unsigned vxlan_port;     /* the only one it works with */
    unsigned vni;            /* the one that it uses, whatever is asked for */
    /* it makes the HNS network itself: a join makes none, and waits */
    bool makes_network;
    unsigned wait_seconds; /* so long at most a join waits for that network; 0: it makes none */
    /* its CNI plugin makes the HNS network when the first pod comes, on the base network, and gives
     * pods addresses that are not of the Node's podCIDR: a join makes no network for pods */
    bool pods_make_network;
    const char *cni;  /* the CNI plugin with which it works; NULL: the mode's first */
    const char *ipam; /* built into that plugin, in the place of a program; NULL: none */
    const struct agent_registry *registry; /* what HNS must have read before its first network */
    /* it runs in the cluster and writes the CNI configuration, too, and the cluster brings
     * kube-proxy: a join makes neither */
    bool in_cluster;
    const char *network_name;    /* of the HNS network that it makes, where it has one name, */
    const char *const *networks; /* and all that it makes: a reset deletes them, the last first */
    /* annotation of a Node with its pods' prefix, when that is not spec.podCIDR; written by */
    const char *subnet_annotation, *subnet_giver;
    bool nat_except_services; /* pods reach only Services with their own address */
    bool nat_except_pods;     /* only pods and the node's network: not Services */
    /* name of the host's endpoint on its network whose address HNS chooses: the source VIP */
    const char *source_vip_endpoint;
    bool unique_host_names; /* it tells nodes apart by machineID, which is the host's name */
    bool keeps_routes;      /* it writes and removes the routes to other nodes' pods */

    /* The modes that it serves and its words for them, up to a row of zeros. NULL: each mode that
     * has a switch on an adapter, by the mode's own name. */
    const struct agent_backend *backends;
    const struct agent_source *sources;
    const char *daemon_set; /* without one: by which it is found, in any namespace */
    /* Reads the text of a source. ERROR_MALFORMED. */
    int (*read_settings)(const char *text, struct agent_settings *ret, struct error *err);
    /* ERROR_UNSUPPORTED with a hint for the administrator: Windows nodes cannot follow that. */
    int (*check_settings)(const struct agent_settings *settings, struct error *err);
    /* The annotations by which other nodes reach this one's pods, behind this address; a new
     * reference. NULL: it does that itself, or nothing is needed. */
    json_t *(*announce)(const struct network_plan *plan, const struct hcn_network *network,
                        const char *address);
    /* Takes what it announces about a node from its annotations into *ret; false: nothing. */
    bool (*read_peer)(const json_t *annotations, struct network_peer *ret);
    /* What it needs on this node at boot, before containerd starts, and each time HNS has started
     * again; winjoin's own networks stand by then. Called again until it succeeds, so it compares
     * first. */
    int (*restore)(const struct network_restore *restore, struct error *err);
};

/* The agents that this build can do (the table is below), NULL-terminated. */
extern const struct network_agent *const network_agents[];
/* By what --network-plugin takes; NULL = none of them. */
const struct network_agent *network_agent_by_plugin(const char *plugin);
/* Is the HNS network of that name one whose pods need no exceptions for each other? */
bool network_agent_excepts_services(const char *network);
/* The agent's word for the mode ("vxlan"), static; NULL: it does not serve it, or is no agent. */
const char *network_agent_backend(const struct network_agent *agent,
                                  const struct network_mode *mode);
/* Will the agent write a route to that node's pods? `vni`: of this node's network. Agents pass over
 * nodes of another backend and those that have not said yet how they are reached: in VXLAN by an
 * address, a router's MAC and the VNI. */
bool network_agent_routes_to(const struct network_agent *agent, const struct network_mode *mode,
                             unsigned vni, const struct network_peer *peer);
/* The CNI plugin with which it works in the mode when --network-plugin names `plugin`; static;
 * NULL: it does not. */
const char *network_agent_cni(const struct network_agent *agent, const char *plugin,
                              const struct network_mode *mode);
void agent_settings_free(struct agent_settings *settings);

/* ---- what --network-mode and --network-plugin take ---- */
/* What --network-plugin takes, in the tables' order. */
void network_plugin_names(struct text_list *ret);
/* ERROR_USAGE for a word that names none; it names those that work, and the one that may be meant:
 * agents and CNI plugins have words of their own. */
int network_plugin_check(const char *name, struct error *err);
int network_mode_check(const char *name, struct error *err);

/* The table: a row is the agent's file and constant (agents/flannel.c: network_agent_flannel). */
#define NETWORK_AGENTS(ROW)                                                                        \
    ROW(none)                                                                                      \
    ROW(flannel)                                                                                   \
    ROW(external)                                                                                  \
    ROW(ovn_kubernetes)                                                                            \
    ROW(azure_vnet)                                                                                \
    ROW(azure_cns)
#define NETWORK_AGENT_DECLARE(agent) extern const struct network_agent network_agent_##agent;
NETWORK_AGENTS(NETWORK_AGENT_DECLARE)

/* Programs that make the pod network of Linux nodes. Where one is found and its part for Windows is
 * not, a Windows node would get a network of its own, cut off from the cluster's. Text is static.
 */
struct linux_agent {
    const char *title;              /* for people: "Calico" */
    const char *const *daemon_sets; /* by which it is found, in any namespace; NULL-terminated */
    const char *windows;            /* what it has for Windows nodes, as the end of a sentence */
    const char *remedy;             /* what an administrator does first */
    const char *by_manifest; /* the same where it is in kube-system, as by its manifest; or NULL */
    /* a Node has this annotation where its part for Windows nodes is on, and that is this plugin;
     * or NULL */
    const char *annotation, *plugin;
};

/* Ends with a row without a title. */
extern const struct linux_agent linux_agents[];
/* Of no name above: what cluster_network_search() found. */
extern const struct linux_agent linux_agent_unknown;

/* The remedy where it is known by that ("DaemonSet kube-system/calico-node"). Static. */
const char *linux_agent_remedy(const struct linux_agent *agent, const char *linux_set);

/* The annotations by which flannel's nodes reach a node's pods over VXLAN (Documentation and
 * pkg/subnet/kube): its VTEP's MAC ("00-15-5D-..", as HNS spells it, or with colons) and the
 * address behind which it is. New reference. */
json_t *flannel_announcement(unsigned vni, const char *router_mac, const char *address);
