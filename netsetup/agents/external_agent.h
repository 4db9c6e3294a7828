/* External agents: programs that a DaemonSet of the cluster runs on Windows nodes in HostProcess
 * containers, and that make the pod network themselves. One constant an agent: how the cluster
 * names it, what it says of its network there, and what it needs on the node. A new one is a file
 * with its constant and a row in EXTERNAL_AGENTS; nothing else asks which agent it is. */
#pragma once

#include "netsetup/agents/agent.h"

/* The DaemonSet that runs kube-proxy on Windows nodes (kubernetes-sigs/sig-windows-tools,
 * hostprocess: kube-proxy.yml of Calico and of flannel). */
#define KUBE_PROXY_DAEMON_SET "kube-proxy-windows"

/* What one of its modes makes in HNS, and needs for that. A table ends with {0}. */
struct external_network {
    const char *mode;           /* network_mode's name: "overlay" */
    const char *hns_type;       /* "Overlay" */
    const char *name;           /* of the HNS network that pods are in */
    const char *base;           /* HNS network that it makes first; one of that type is reused */
    const char *service;        /* of Windows, that must exist: "RemoteAccess"; NULL: none */
    const char *service_reason; /* what the service belongs to */
    const char *service_hint;   /* a command that installs it */
};

/* Text is static; NULL where there is nothing. */
struct external_agent {
    const char *name;       /* in network.json: "calico" */
    const char *title;      /* for people: "Calico" */
    const char *daemon_set; /* by which it is found, in any namespace: "calico-node-windows" */
    const char *config_map; /* with its settings, in the same namespace */
    const char *others_map; /* with those of other nodes' agents and its controller, there, too */
    /* an object of the cluster that it reads, too, for which a join asks: found in the settings
     * below EXTERNAL_AGENT_OBJECT; group NULL: none */
    struct external_object {
        const char *group, *version, *resource, *name; /* "crd.projectcalico.org", "v1", ... */
    } object;
    const struct network_agent *settings_of; /* whose settings in the cluster are its own, too */
    /* volumes or variables with the CNI folders that it writes to: the first that is there */
    const char *const *cni_bin, *const *cni_conf;
    const struct external_network *networks;
    struct host_firewall_rule firewall; /* beside the mode's; name NULL: none */
    unsigned tunnel_port;               /* of that rule, where the cluster says no other */
    const char *prefixes_at;            /* where an administrator sets pods' and Services' */
    const char *adapter; /* that takes over the adapter's addresses; NULL: "vEthernet (ADAPTER)" */
    bool own_switch;     /* it refuses an adapter that has a virtual switch */
    bool needs_pod_cidr; /* the Node's podCIDR; without: it gives out prefixes of its own */
    const char *advice;  /* what its documentation asks for beside, that a join does not do */
    const char *removal; /* what is left on the node after reset, and the command for it */

    /* Reads its settings: the variables of its containers and the ConfigMap's data in one
     * object, the data of others_map below EXTERNAL_AGENT_OTHERS. ret->backend stays NULL: it makes
     * no network here. ERROR_MALFORMED. */
    int (*read)(const json_t *told, struct agent_settings *ret, struct error *err);
    /* ERROR_UNSUPPORTED with a hint: Windows nodes cannot follow that. */
    int (*check)(const struct agent_settings *settings, struct error *err);
};

extern const struct external_agent *const external_agents[];
const struct external_agent *external_agent_by_name(const char *name); /* NULL: none of them */
/* Its row for the mode; NULL: there is none (also of NULL). */
const struct external_network *external_agent_network(const struct external_agent *agent,
                                                      const struct network_mode *mode);
/* Its network in HNS: agents name it as they like (one for each block, one for each VNI), so it is
 * found by its type, and is not the base. ERROR_ABSENT: no such network. */
int external_network_find(struct host *host, const struct external_network *wanted,
                          struct hcn_network *ret, struct error *err);
#define EXTERNAL_AGENT_OTHERS "others"
#define EXTERNAL_AGENT_OBJECT "object"
/* Adds to the list what stands in a text, separated by commas. `what` is for the message. Kinds:
 * ERROR_MALFORMED. */
int external_agent_prefixes(const char *text, const char *what, struct text_list *ret,
                            struct error *err);
/* The variables (name -> value) of all containers of a DaemonSet, and under the names of its
 * volumes the host's folders. New reference. */
json_t *external_agent_variables(const json_t *daemon_set);
/* Is a folder of such a variable this one: "/opt/cni/bin" is C:\opt\cni\bin, and so is
 * "/host/opt/cni/bin", where the operator's DaemonSet of Calico mounts it (tigera/operator,
 * pkg/render/windows.go). */
bool external_agent_same_folder(const char *told, const char *folder);

/* Settings of a DaemonSet, and of the Linux nodes' agent (taken over), become one: the program on
 * Windows nodes decides; what the others' agent says is added where it is the same agent. */
void external_agent_settle(struct agent_settings *settings, struct agent_settings *others);

#define EXTERNAL_AGENTS(ROW)                                                                       \
    ROW(calico)                                                                                    \
    ROW(antrea)                                                                                    \
    ROW(flannel)
#define EXTERNAL_AGENT_DECLARE(agent) extern const struct external_agent external_agent_##agent;
EXTERNAL_AGENTS(EXTERNAL_AGENT_DECLARE)
