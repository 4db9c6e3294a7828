/* The plan of the node's Pod network: every address, name, exception and warning is computed from
 * the cluster's values before anything changes. Pure. */
#pragma once

#include "base/cidr.h"
#include "base/json.h"

/* Version of HNS (major.minor), from hns_version_get() (netsetup/hns/hns_features.h). */
struct hns_version {
    unsigned major, minor; /* The version 0.0 means not known. */
};

struct network_mode;     /* The struct is defined in netsetup/modes/mode.h. */
struct network_agent;    /* The struct is defined in netsetup/agents/agent.h. */
struct daemon_set_agent; /* The struct is defined in netsetup/agents/daemon_set_agent.h. */

/* The input of a plan. All text is borrowed for the call; NULL means the default. */
struct network_input {
    const char *mode; /* Name of the mode, e.g. "overlay"; default: the plugin's first mode. */
    /* Name in --network-plugin, e.g. "flannel"; NULL when not given. */
    const char *plugin;
    /* The cluster's agent that makes the network, e.g. "calico"; NULL when no agent does. */
    const char *daemon_set_agent;
    /* Name of the HNS network; default: the mode's ("flannel.<vni>", "cbr0"). */
    const char *name;
    const char *adapter; /* Alias of the NIC for the vSwitch, from nic_choose(). */
    /* The Node's .spec.podCIDR. NULL when not known yet, so documents have "<podCIDR>". */
    const char *pod_cidr;
    const char *pod_cidr6;              /* The IPv6 prefix of the Node's .spec.podCIDRs. */
    struct text_list cluster_pod_cidrs; /* networking.podSubnet of the ClusterConfiguration. */
    struct text_list service_cidrs;     /* networking.serviceSubnet of the ClusterConfiguration. */
    const char *management;             /* The node's address with prefix, "10.0.0.21/24". */
    const char *management6;            /* The node's IPv6 address. */
    unsigned vni;                       /* The VNI of an overlay network; 0 means 4096. */
    unsigned vxlan_port;                /* The VXLAN port of an overlay network; 0 means 4789. */
    const char *dns_domain;             /* The cluster's DNS domain, e.g. "cluster.local". */
    struct text_list dns_servers;       /* Addresses of the cluster's DNS servers. */
    struct text_list exclude_from_nat;  /* More prefixes that Pods reach without NAT. */
    struct hns_version hns;
    /* Whether Pods get IPv6, too: "auto" or NULL (where possible), "on" (fails with
     * ERROR_UNSUPPORTED and the reason where it is not possible), or "off". */
    const char *dual_stack;
    /* Who routes to other nodes' Pods, if mode and agent leave a choice: "own", "print" or
     * "none". */
    const char *routes;
    const char *dsr;        /* Whether to use DSR: "auto", "on" or "off". */
    const char *cni_folder; /* Where containerd reads CNI files; default: CNI_CONF_DIR. */
};

/* The IPv6 half of a dual-stack network; all 0 in a network with IPv4 only. Unknown texts are "",
 * an unknown pod_cidr is "<podCIDR>". */
struct network_ipv6 {
    bool on;
    char pod_cidr[CIDR_TEXT_MAX];    /* The Pod prefix, e.g. fd00:10:244:1::/64. */
    char gateway[IP_TEXT_MAX];       /* Address base+1, the gateway of HNS. */
    char host_endpoint[IP_TEXT_MAX]; /* Address base+2, the Pods' gateway on the host. */
    /* The first address for Pods; the end of the prefix is the last one. */
    char range_start[IP_TEXT_MAX];
    int prefix_length;
    char management_address[IP_TEXT_MAX];
    char base_subnet[CIDR_TEXT_MAX]; /* Subnet of the base network; base_gateway is its gateway. */
    char base_gateway[IP_TEXT_MAX];
};

#define NETWORK_BASE_NAME "External"

enum { PLAN_WARNINGS_MAX = 8 };
struct network_warning {
    const char *code; /* E.g. "dual-stack-off", "pod-cidr-outside-cluster". */
    char message[256];
};

/* The plan. Text that does not apply to the mode, or is not known yet (pod_cidr_known), is "". */
struct network_plan {
    const struct network_mode *mode;
    const struct network_agent *agent;
    /* The agent of the cluster that makes the network; NULL when no agent does. */
    const struct daemon_set_agent *daemon_set_agent;
    const char *plugin; /* Name in --network-plugin: "flannel", "win-bridge". */
    /* `type` in the CNI file, e.g. "win-overlay"; NULL means that the agent writes that file. */
    const char *cni_plugin;
    /* Name of the HNS network. When an agent makes the network, only the plan uses this name. */
    char *name;
    /* The adapter for the vSwitch. NULL when HNS chooses it, or the switch has none. */
    char *adapter;
    bool pod_cidr_known;
    char pod_cidr[CIDR_TEXT_MAX]; /* The Pod prefix, e.g. 10.244.1.0/24, or "<podCIDR>". */
    char gateway[IP_TEXT_MAX];    /* Address base+1: HNS's gateway, never a Pod's. */
    /* The Pods' gateway on the host in mode l2bridge: address base+2. */
    char host_endpoint[IP_TEXT_MAX];
    char *host_endpoint_name; /* Name of that endpoint in mode l2bridge: "<name>_ep". */
    int prefix_length;
    /* First and last address that host-local may give to a Pod. */
    char range_start[IP_TEXT_MAX];
    char range_end[IP_TEXT_MAX];
    char source_vip[IP_TEXT_MAX]; /* Source VIP of an overlay network: base+2. */
    char management_address[IP_TEXT_MAX];
    unsigned vni, vxlan_port; /* VXLAN's numbers of an overlay network. */
    bool set_vxlan_port;      /* The port is not 4789: a VxlanPort policy is needed. */
    /* NETWORK_BASE_NAME, the network that keeps the vSwitch; NULL when not needed. */
    char *base_name;
    char base_subnet[CIDR_TEXT_MAX]; /* The base network's subnet: a /30 that overlaps nothing. */
    char base_gateway[IP_TEXT_MAX];
    unsigned base_vsid; /* VSID of an overlay's base network: 9999. */
    struct network_ipv6 ipv6;
    struct text_list cluster_pod_cidrs; /* This list and the next three have both families. */
    struct text_list service_cidrs;
    struct text_list nat_exceptions; /* Prefixes that Pods reach without NAT. */
    struct text_list encap_routes;   /* Prefixes of SDNRoute policies with NeedEncap. */
    char *dns_domain;
    struct text_list dns_servers;
    /* Folder of CNI files; NULL means CNI_CONF_DIR (services/containerd_settings.h). */
    char *cni_folder;
    bool dsr; /* DSR for kube-proxy (enableDSR) and the plugin (loopbackDSR). */
    /* Who has the routes to other nodes' Pods. With "own" this host has them. With "print" the
     * network between the nodes gets them, and a join prints them. With "none" the network already
     * has them. NULL means that mode or agent decide it. */
    const char *routes;
    bool writes_routes; /* winjoin writes the routes to other nodes' Pods and keeps them current. */
    struct network_warning warnings[PLAN_WARNINGS_MAX];
    size_t warning_count;
};

/* Sets this node's Pod prefixes to the first of each family. `prefixes` is borrowed. */
void network_input_pods(const struct text_list *prefixes, struct network_input *input);
/* Makes the plan; *ret is owned: network_plan_free(). Addresses of the Pod prefix: .0 is the
 * network, .1 HNS's gateway, .2 the host's endpoint (l2bridge) or the source VIP (overlay), the
 * last the broadcast. Fails with ERROR_UNSUPPORTED (mode or plugin does not work here; the message
 * names those that do), ERROR_USAGE (plugin does not fit the mode, VNI < 4096, prefix too small
 * (/30), overlap of Pod, Service and management prefixes, node prefix of another family),
 * ERROR_MALFORMED (bad prefix). */
int network_plan_make(const struct network_input *input, struct network_plan *ret,
                      struct error *err);
/* Chooses only mode, agent and plugins, as network_plan_make() does; they decide which programs a
 * node needs. NULL means not given. Fails as network_plan_make(). */
int network_plan_choose(const char *mode, const char *plugin, struct network_plan *ret,
                        struct error *err);
/* Checks what needs neither machine nor cluster (hns and cluster prefixes may be unknown): do these
 * choices and prefixes fit together? Fails as network_plan_make(). */
int network_input_check(const struct network_input *input, struct error *err);
void network_plan_free(struct network_plan *plan);

/* Returns the `network` object of a JoinPlan document: mode, plugin, name, adapter, documents, cni,
 * routes, firewall, natExceptions, sourceVip, warnings. New reference. */
json_t *network_plan_json(const struct network_plan *plan);

/* Returns the first text of this family (4 or 6) in a list of addresses or prefixes, or NULL. */
const char *text_of_family(const struct text_list *list, int family);

/* The prefixes of a network plan: parsed, checked against each other, and converted to
 * addresses. */

enum { PREFIXES_MAX = 16 };

/* The prefixes of the input. The lists have IPv6 prefixes only with dual stack. */
struct network_prefixes {
    bool has_pod, has_management;
    struct cidr pod;        /* The Pod prefix of this node. */
    struct cidr management; /* The subnet of the node's address. */
    struct ip management_address;
    bool has_pod6, has_management6;
    struct cidr pod6, management6;
    struct ip management_address6;
    struct cidr cluster[PREFIXES_MAX], service[PREFIXES_MAX], exclude[PREFIXES_MAX];
    size_t cluster_count, service_count, exclude_count;
    bool pods_on_node_network; /* Pods may have addresses from the node's own subnet. */
};

/* Parses the input's prefixes. Without `dual`, IPv6 prefixes are skipped where there are IPv4 ones.
 * Fails with ERROR_MALFORMED (with the field's name), ERROR_USAGE (too many), ERROR_UNSUPPORTED
 * (IPv6 only). */
int network_prefixes_read(const struct network_input *input, bool dual,
                          struct network_prefixes *ret, struct error *err);
/* Checks that Pod, Service and management prefixes do not overlap and have no addresses that no Pod
 * or Service can have (0.0.0.0/0, loopback, multicast, ...). ERROR_USAGE names the two prefixes. */
int network_prefixes_check(const struct network_prefixes *prefixes, struct error *err);
/* Is the node's Pod prefix outside of all prefixes of the cluster? */
bool network_prefixes_outside(const struct network_prefixes *prefixes);
/* Sets the plan's addresses, exceptions and the /30 of the base network. */
int network_prefixes_apply(const struct network_prefixes *prefixes, struct network_plan *plan,
                           struct error *err);
