/* A network mode is one constant: what HNS network pods are put into, and what follows from it for
 * addresses, documents, routes to other nodes, the firewall and diagnosis. A new one is a file with
 * its constant and a row in NETWORK_MODES; nothing else asks which mode it is. */
#pragma once

#include "netsetup/hns/hcn_network.h"
#include "netsetup/plan/network_plan.h"
#include "netsetup/routes/routes.h"

/* What pods cannot do in a mode, by design. A table ends with {0}. */
struct network_limit {
    const char *code; /* "no-services": the reason of a flow that is skipped, the plan's warning */
    const char *text; /* a sentence without a full stop, at most 250 bytes */
    bool services;    /* diag's flows by a Service or a name of the cluster may fail for it */
};

/* Of every mode without VFP: Kubernetes' Services are load balancers of VFP. */
#define NETWORK_LIMIT_NO_SERVICES                                                                  \
    {                                                                                              \
        "no-services",                                                                             \
            "pods reach Services by cluster IP, the cluster's DNS among them, only where the "     \
            "network "                                                                             \
            "routes to these: kube-proxy's load balancers do not work in this mode",               \
            true                                                                                   \
    }

/* What a mode lacks: rows of netsetup/limits.h. IPv6 wherever `ipv4_only` says why. */
enum { MODE_LACKS_ICMP_OUT = 1, MODE_LACKS_IPV6 = 2 };

/* Text is static; a list ends with NULL. A function that is NULL has nothing to do. */
struct network_mode {
    const char *name;         /* as --network-mode names it: "overlay" */
    const char *hns_type;     /* Type of HostComputeNetwork: "Overlay" */
    const char *network_name; /* of the HNS network where nobody gives it another; NULL: `plan`'s */
    const char *const *cni_plugins; /* that make pods' endpoints, the default first */
    const char *ipv4_only;          /* why pods have no IPv6 addresses; NULL: they may, */
    const char *dual_stack_plugin;  /* with this CNI plugin */
    /* pods' packets to other nodes travel in VXLAN (VNI, UDP port, 50 bytes of each packet), and
     * their routes are RemoteSubnetRoute policies of the network */
    bool vxlan;
    bool vfp; /* its switch filters pods' packets: OutBoundNAT, SDNRoute, Services work */
    /* its switch is HNS's own, on no adapter: no base network keeps it, it costs no outage */
    bool internal;
    bool fabric_gateway; /* pods' gateway is a router of the physical network */
    bool host_routes;    /* the routes to other nodes' pods are the host's, over those nodes */
    const char *no_host_routes; /* why they are not: ends "in mode overlay" */
    bool node_network;          /* pods reach the node's own network without NAT */
    bool forwarding; /* the host forwards between its adapter and its endpoint among the pods */
    /* The host has an endpoint of its own among the pods, with the third address of this node's pod
     * prefix (its base + 2): the pods' gateway, while HNS's own has the second. */
    bool host_endpoint;
    bool source_vip;                    /* kube-proxy needs one: netsetup/netsetup.h */
    const struct network_limit *limits; /* NULL: none */
    /* why a node of this mode is no use to a cluster: the preflight check NetworkMode refuses */
    const char *isolated;
    unsigned lacks; /* MODE_LACKS_* */
    unsigned flags; /* of the pod network: 8 = not persistent */
    /* types of policies, without settings, that are added to the network once it exists */
    const char *const *policies;
    struct host_firewall_rule
        firewall; /* inbound; name NULL: none; port 0: the plan's VXLAN port */

    /* Fills the plan's other names and numbers (kinds of failure: network_plan_make()). */
    int (*plan)(const struct network_input *input, struct network_plan *plan, struct error *err);
    /* What must exist beside the pod network, or be waited for, before pods start. */
    int (*complete)(struct host *host, const struct network_plan *plan, struct hcn_network *network,
                    struct error *err);
    /* These three are NULL in a mode whose network finds the other nodes by itself. The route to
     * that node's pods, a new reference; NULL: it does not say how it is reached. */
    json_t *(*route_to)(const struct network_plan *plan, const struct network_peer *peer);
    /* Adds to the list the routes that stand. */
    int (*routes_read)(struct host *host, const struct network_plan *plan, json_t *list,
                       struct error *err);
    /* Adds those that are missing; `only`: takes away others. ERROR_MALFORMED: other documents. */
    int (*routes_write)(struct host *host, const struct network_plan *plan, const json_t *routes,
                        bool only, struct error *err);
    /* Removes these; absent is success. NULL: `only` does it. */
    int (*routes_remove)(struct host *host, const struct network_plan *plan, const json_t *routes,
                         struct error *err);
};

/* The modes that this build can do, in the table's order, the default first. */
extern const struct network_mode *const network_modes[];
/* By name, in any case; NULL = none of them. */
const struct network_mode *network_mode_by_name(const char *name);
/* The mode that this CNI plugin's pods are in, or NULL; where it serves several, the one of this
 * HNS type, else (also with NULL) the first. */
const struct network_mode *network_mode_by_cni(const char *plugin, const char *hns_type);
/* The names, in the table's order. */
void network_mode_names(struct text_list *ret);

/* The table: a row is the mode's file and constant (modes/overlay.c: network_mode_overlay). */
#define NETWORK_MODES(ROW)                                                                         \
    ROW(overlay)                                                                                   \
    ROW(l2bridge)                                                                                  \
    ROW(l2tunnel)                                                                                  \
    ROW(transparent)                                                                               \
    ROW(nat)
#define NETWORK_MODE_DECLARE(mode) extern const struct network_mode network_mode_##mode;
NETWORK_MODES(NETWORK_MODE_DECLARE)
