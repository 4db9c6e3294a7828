/* Agents of DaemonSets: programs that a DaemonSet of the cluster runs on Windows nodes in
 * HostProcess containers, and that make the Pod network themselves. Each is one constant: its name
 * in the cluster, its settings there, and what it needs on the node. A new one is a file with its
 * constant and a row in DAEMON_SET_AGENTS; no other code compares agents. */
#pragma once

#include "netsetup/agents/agent.h"

/* The DaemonSet that runs kube-proxy on Windows nodes (kubernetes-sigs/sig-windows-tools,
 * hostprocess: kube-proxy.yml of Calico and of flannel). */
#define KUBE_PROXY_DAEMON_SET "kube-proxy-windows"

/* Says what the agent makes and needs in HNS in one of its modes. A table ends with {0}. */
struct daemon_set_network {
    const char *mode;     /* Name of the network_mode, e.g. "overlay". */
    const char *hns_type; /* Type of the HNS network, e.g. "Overlay". */
    const char *name;     /* Name of the HNS network for Pods. */
    const char *base;     /* HNS network that the agent makes first, or reuses by type. */
    /* Windows service that the agent needs, e.g. "RemoteAccess"; NULL when it needs none. */
    const char *service;
    const char *service_reason; /* The reason why the agent needs that Windows service. */
    const char *service_hint;   /* Command that installs that Windows service. */
};

/* The constant of a DaemonSet's agent. Text is static; a member that does not apply is NULL. */
struct daemon_set_agent {
    const char *name;       /* The agent's name in network.json, e.g. "calico". */
    const char *title;      /* The agent's name for messages, e.g. "Calico". */
    const char *daemon_set; /* The agent's DaemonSet, e.g. "calico-node-windows". */
    const char *config_map; /* ConfigMap of its settings, in the namespace of the DaemonSet. */
    /* The ConfigMap that the agents of other nodes and the controller read, in the namespace of the
     * DaemonSet. */
    const char *others_map;
    /* An object of the cluster that the agent reads, too. A join reads it into the settings as
     * DAEMON_SET_AGENT_OBJECT. group is NULL when there is no such object. */
    struct agent_object {
        /* The parts of the object's path: "crd.projectcalico.org", "v1", ... */
        const char *group, *version, *resource, *name;
    } object;
    /* The network agent whose settings in the cluster this agent shares; NULL when it has its
     * own settings. */
    const struct network_agent *settings_of;
    /* Names of the DaemonSet's volumes or variables that hold the folders it writes CNI files to.
     * The first one that exists counts. */
    const char *const *cni_bin, *const *cni_conf;
    const struct daemon_set_network *networks;
    /* A firewall rule in addition to the mode's; its name is NULL when not needed. */
    struct host_firewall_rule firewall;
    /* Port of that firewall rule, where the cluster does not set one. */
    unsigned tunnel_port;
    /* Where an administrator sets the prefixes of Pods and Services. */
    const char *prefixes_at;
    /* The interface that takes over the adapter's addresses; NULL means "vEthernet (ADAPTER)". */
    const char *adapter;
    bool own_switch; /* The agent refuses an adapter that has a virtual switch. */
    /* The agent uses the Node's podCIDR; otherwise it assigns prefixes itself. */
    bool needs_pod_cidr;
    const char *advice; /* What the agent's documentation asks for and a join does not do. */
    /* What the agent leaves on the node after a reset, with the command to remove it. */
    const char *removal;

    /* Reads the agent's settings. `variables` has the variables of its containers and the data of
     * its ConfigMap in one object, and the data of others_map as DAEMON_SET_AGENT_OTHERS.
     * ret->backend stays NULL when the agent makes no network here. Fails with ERROR_MALFORMED. */
    int (*read)(const json_t *variables, struct agent_settings *ret, struct error *err);
    /* Fails with ERROR_UNSUPPORTED and a hint for settings that Windows nodes do not support. */
    int (*check)(const struct agent_settings *settings, struct error *err);
};

/* All agents of DaemonSets; the last item is NULL. */
extern const struct daemon_set_agent *const daemon_set_agents[];
/* Returns the agent with this name, or NULL. */
const struct daemon_set_agent *daemon_set_agent_by_name(const char *name);
/* Returns the agent's network for this mode, or NULL; agent may be NULL. */
const struct daemon_set_network *daemon_set_agent_network(const struct daemon_set_agent *agent,
                                                          const struct network_mode *mode);
/* Finds the agent's network in HNS. Agents choose its name (one for each block, one for each VNI),
 * so it is found by its type; the base network does not count. Fails with ERROR_ABSENT when there
 * is none. */
int daemon_set_network_find(struct host *host, const struct daemon_set_network *wanted,
                            struct hcn_network *ret, struct error *err);
#define DAEMON_SET_AGENT_OTHERS "others"
#define DAEMON_SET_AGENT_OBJECT "object"
/* Adds the comma-separated prefixes of a text to the list. `what` names the text in errors. Fails
 * with ERROR_MALFORMED. */
int daemon_set_agent_prefixes(const char *text, const char *what, struct text_list *ret,
                              struct error *err);
/* Returns an object with the environment variables of all containers of a DaemonSet (name: value),
 * and with its volumes (name: folder on the host). New reference. */
json_t *daemon_set_agent_variables(const json_t *daemon_set);
/* Is the folder in a variable of a DaemonSet this one? "/opt/cni/bin" is C:\opt\cni\bin, and so is
 * "/host/opt/cni/bin", where the DaemonSet of Calico's operator mounts it (tigera/operator,
 * pkg/render/windows.go). */
bool daemon_set_agent_same_folder(const char *path, const char *folder);

/* Merges the settings of the DaemonSet for Windows nodes and those of the Linux nodes' agent
 * (`others`, taken over) into `settings`. The program on Windows nodes decides; values of the Linux
 * agent are added only where both are the same agent. */
void daemon_set_agent_settle(struct agent_settings *settings, struct agent_settings *others);

#define DAEMON_SET_AGENTS(ROW)                                                                     \
    ROW(calico)                                                                                    \
    ROW(antrea)                                                                                    \
    ROW(flannel)
#define DAEMON_SET_AGENT_DECLARE(agent)                                                            \
    extern const struct daemon_set_agent daemon_set_agent_##agent;
DAEMON_SET_AGENTS(DAEMON_SET_AGENT_DECLARE)
