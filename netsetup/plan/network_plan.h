/* What the node's pod network will be: every address, name, exception and warning computed from the
 * cluster's numbers before anything is touched. Pure. */
#pragma once

#include "base/cidr.h"
#include "base/json.h"

/* HNS version (major.minor), from hns_version_get() (netsetup/hns/hns_features.h). */
struct hns_version {
    unsigned major, minor; /* 0.0 = not known */
};

struct network_mode;   /* netsetup/modes/mode.h */
struct network_agent;  /* netsetup/agents/agent.h */
struct external_agent; /* netsetup/agents/external_agent.h */

/* All text is borrowed for the call; NULL means "the default". */
struct network_input {
    const char *mode; /* "overlay"; default: the first that the plugin works in */
    /* an agent's ("flannel") or a CNI plugin's ("win-bridge"); default: the mode's CNI plugin
     * alone */
    const char *plugin;
    const char *external;  /* the cluster's agent that makes the network: "calico"; NULL: unknown */
    const char *name;      /* HNS network; default: the mode's ("flannel.<vni>", "cbr0") */
    const char *adapter;   /* alias of the NIC under the vSwitch, from nic_choose() */
    const char *pod_cidr;  /* Node .spec.podCIDR; NULL: not known yet, documents hold "<podCIDR>" */
    const char *pod_cidr6; /* the IPv6 one of .spec.podCIDRs */
    struct text_list cluster_pod_cidrs; /* ClusterConfiguration networking.podSubnet */
    struct text_list service_cidrs;     /* networking.serviceSubnet */
    const char *management;             /* node address with its prefix, "10.0.0.21/24" */
    const char *management6;            /* its IPv6 address */
    unsigned vni;                       /* overlay: 0 = 4096 */
    unsigned vxlan_port;                /* overlay: 0 = 4789 */
    const char *dns_domain;             /* "cluster.local" */
    struct text_list dns_servers;       /* cluster DNS addresses */
    struct text_list exclude_from_nat;  /* further prefixes that pods reach unmasked */
    struct hns_version hns;
    /* "auto" (NULL: IPv6 where it can be), "on" (or ERROR_UNSUPPORTED with the reason), "off" */
    const char *dual_stack;
    /* "own", "print", "none": who routes to other nodes' pods, where that is open */
    const char *routes;
    const char *dsr;        /* "auto", "on", "off" */
    const char *cni_folder; /* where containerd reads CNI's configuration; default: CNI_CONF_DIR */
};

/* The IPv6 half of a dual-stack network; all of it is 0 in one of IPv4 alone. "" is not known yet,
 * but pod_cidr is "<podCIDR>" then. */
struct network_ipv6 {
    bool on;
    char pod_cidr[CIDR_TEXT_MAX];    /* fd00:10:244:1::/64 */
    char gateway[IP_TEXT_MAX];       /* base+1: HNS's own */
    char host_endpoint[IP_TEXT_MAX]; /* base+2: the pods' gateway on the host */
    char range_start[IP_TEXT_MAX];   /* the first address of a pod; the last is the prefix's */
    int prefix_length;
    char management_address[IP_TEXT_MAX];
    char base_subnet[CIDR_TEXT_MAX]; /* of the base network, and its gateway */
    char base_gateway[IP_TEXT_MAX];
};

#define NETWORK_BASE_NAME "External"

enum { PLAN_WARNINGS_MAX = 8 };
struct network_warning {
    const char *code; /* "dual-stack-off", "no-route-agent", "pod-cidr-outside-cluster", ... */
    char message[256];
};

/* What text is "" does not apply to the mode or is not known yet (pod_cidr_known). */
struct network_plan {
    const struct network_mode *mode;
    const struct network_agent *agent;
    const struct external_agent *external; /* the cluster's, that makes the network; NULL: none */
    const char *plugin;     /* as --network-plugin names it: "flannel", "win-bridge" */
    const char *cni_plugin; /* `type` in the CNI file: "win-overlay"; NULL: the agent writes it */
    char *name;    /* of the HNS network; where the agent makes that, only the plan's own */
    char *adapter; /* NULL: HNS chooses, or the mode's switch is on none */
    bool pod_cidr_known;
    char pod_cidr[CIDR_TEXT_MAX];    /* 10.244.1.0/24, or "<podCIDR>" */
    char gateway[IP_TEXT_MAX];       /* base+1: HNS's own, never a pod's */
    char host_endpoint[IP_TEXT_MAX]; /* l2bridge: base+2, the pods' gateway on the host */
    char *host_endpoint_name;        /* l2bridge: "<name>_ep" */
    int prefix_length;
    char range_start[IP_TEXT_MAX]; /* first and last address that host-local may give to a pod */
    char range_end[IP_TEXT_MAX];
    char source_vip[IP_TEXT_MAX]; /* overlay: base+2, kept out of the range */
    char management_address[IP_TEXT_MAX];
    unsigned vni, vxlan_port;        /* overlay */
    bool set_vxlan_port;             /* other than 4789: a VxlanPort policy is needed */
    char *base_name;                 /* NETWORK_BASE_NAME: it keeps the vSwitch; NULL: none does */
    char base_subnet[CIDR_TEXT_MAX]; /* /30 that overlaps nothing */
    char base_gateway[IP_TEXT_MAX];
    unsigned base_vsid; /* overlay: 9999 */
    struct network_ipv6 ipv6;
    struct text_list cluster_pod_cidrs; /* these four: of both families */
    struct text_list service_cidrs;
    struct text_list nat_exceptions; /* prefixes that pods reach with their own address */
    struct text_list encap_routes;   /* SDNRoute NeedEncap prefixes */
    char *dns_domain;
    struct text_list dns_servers;
    char *cni_folder; /* NULL: CNI_CONF_DIR (services/containerd_settings.h) */
    bool dsr;         /* kube-proxy enableDSR and the plugin's loopbackDSR */
    /* "own": this host has the routes to other nodes' pods; "print": the network between them has
     * these, and a join prints them; "none": the network has them. NULL: that is not open. */
    const char *routes;
    bool writes_routes; /* by winjoin, which keeps them current */
    struct network_warning warnings[PLAN_WARNINGS_MAX];
    size_t warning_count;
};

/* This node's pod prefixes: the first of each family. `prefixes` is borrowed. */
void network_input_pods(const struct text_list *prefixes, struct network_input *input);
/* Computes the plan (ownership of *ret's content: network_plan_free()). Subnet arithmetic: .0
 * network, .1 HNS gateway, .2 bridge endpoint (l2bridge) or source VIP (overlay), last = broadcast.
 * Kinds: ERROR_UNSUPPORTED (mode or plugin that does not work here; the message names what does),
 * ERROR_USAGE (plugin does not fit the mode, VNI < 4096, prefix too small (/30), overlap of pod,
 * service and management prefixes, node prefix of another family), ERROR_MALFORMED (bad prefix). */
int network_plan_make(const struct network_input *input, struct network_plan *ret,
                      struct error *err);
/* Mode, agent and plugins alone, as network_plan_make() chooses them: what decides which programs a
 * node needs. NULL: not given. Its kinds. */
int network_plan_choose(const char *mode, const char *plugin, struct network_plan *ret,
                        struct error *err);
/* The part of network_plan_make() that needs neither machine nor cluster (hns and cluster prefixes
 * may be unknown): can these choices and prefixes stand together? Its kinds. */
int network_input_check(const struct network_input *input, struct error *err);
void network_plan_free(struct network_plan *plan);

/* The `network` object of a JoinPlan document: mode, plugin, name, adapter, documents, cni, routes,
 * firewall, natExceptions, sourceVip, warnings. New reference. */
json_t *network_plan_json(const struct network_plan *plan);

/* The first text of the family (4 or 6) among addresses or prefixes; NULL: none. Pure. */
const char *text_of_family(const struct text_list *list, int family);

/* The prefixes behind a network plan: read, checked against each other, turned into addresses. */

enum { PREFIXES_MAX = 16 };

/* IPv4; with dual stack the lists hold IPv6 prefixes, too. */
struct network_prefixes {
    bool has_pod, has_management;
    struct cidr pod;        /* this node's */
    struct cidr management; /* ip & mask */
    struct ip management_address;
    bool has_pod6, has_management6;
    struct cidr pod6, management6;
    struct ip management_address6;
    struct cidr cluster[PREFIXES_MAX], service[PREFIXES_MAX], exclude[PREFIXES_MAX];
    size_t cluster_count, service_count, exclude_count;
    bool pods_on_node_network; /* pods may have addresses of the node's own subnet */
};

/* Reads the input's prefixes; IPv6 ones beside IPv4 are left out where `dual` is false. Kinds:
 * ERROR_MALFORMED (with the field's name), ERROR_USAGE (too many),
 * ERROR_UNSUPPORTED (IPv6 alone). */
int network_prefixes_read(const struct network_input *input, bool dual,
                          struct network_prefixes *ret, struct error *err);
/* Pod, service and management prefixes must not overlap, nor hold addresses that no pod or Service
 * can have (0.0.0.0/0, loopback, multicast, ...); ERROR_USAGE names the two. */
int network_prefixes_check(const struct network_prefixes *prefixes, struct error *err);
/* true when the node's pod prefix lies in none of the cluster's. */
bool network_prefixes_outside(const struct network_prefixes *prefixes);
/* Fills the plan's addresses, exceptions and the base network's /30. */
int network_prefixes_apply(const struct network_prefixes *prefixes, struct network_plan *plan,
                           struct error *err);
