/* A network mode is one constant: the type of HNS network for Pods, and what follows from it for
 * addresses, documents, routes to other nodes, firewall and diagnosis. A new mode is a file with
 * its constant and a row in NETWORK_MODES; no other code compares modes. */
#pragma once

#include "netsetup/hns/hcn_network.h"
#include "netsetup/plan/network_plan.h"
#include "netsetup/routes/routes.h"

/* What Pods cannot do in a mode, by design. A table ends with {0}. */
struct network_limit {
    const char *code; /* E.g. "no-services": the reason of a skipped flow. */
    const char *text; /* A sentence without a full stop, at most 250 bytes. */
    /* The limit can break diag's flows to a Service or to a name in the cluster. */
    bool services;
};

/* The limit of each mode without VFP, because load balancers of Services are a function of VFP. */
#define NETWORK_LIMIT_NO_SERVICES                                                                  \
    {                                                                                              \
        "no-services",                                                                             \
            "pods reach Services by cluster IP, the cluster's DNS among them, only where the "     \
            "network "                                                                             \
            "routes to these: kube-proxy's load balancers do not work in this mode",               \
            true                                                                                   \
    }

/* Says what a mode lacks, for netsetup/limits.h. A mode with `ipv4_only` lacks IPv6, too. */
enum { MODE_LACKS_ICMP_OUT = 1, MODE_LACKS_IPV6 = 2 };

/* The constant of a network mode. Text is static and lists end with NULL. A function is NULL where
 * the mode has nothing to do. */
struct network_mode {
    const char *name;               /* The mode's name in --network-mode, e.g. "overlay". */
    const char *hns_type;           /* The network's type in HostComputeNetwork, e.g. "Overlay". */
    const char *network_name;       /* Default name of the HNS network; NULL when `plan` sets it. */
    const char *const *cni_plugins; /* Plugins that make the Pods' endpoints, the default first. */
    const char *ipv4_only;          /* Why Pods have no IPv6 addresses; NULL when they may. */
    const char *dual_stack_plugin;  /* The CNI plugin that is needed for IPv6. */
    /* Packets of Pods to other nodes travel in VXLAN (VNI, UDP port, 50 bytes in each packet).
     * Routes are RemoteSubnetRoute policies of the network. */
    bool vxlan;
    bool vfp; /* The switch has VFP: OutBoundNAT, SDNRoute and Services work. */
    /* HNS makes the switch on no adapter. It needs no base network and causes no outage. */
    bool internal;
    bool fabric_gateway;        /* The gateway of Pods is a router of the physical network. */
    bool host_routes;           /* The host has the routes to other nodes' Pods. */
    const char *no_host_routes; /* Why the host has no such routes: the end of a sentence. */
    bool node_network;          /* Pods reach the node's own network without NAT. */
    /* The host forwards packets between its adapter and its endpoint on the Pod network. */
    bool forwarding;
    /* The host has its own endpoint in the Pod network. It is the Pods' gateway and has the third
     * address of this node's Pod prefix (its base + 2); HNS's own gateway has the second. */
    bool host_endpoint;
    bool source_vip;                    /* kube-proxy needs a source VIP: netsetup/netsetup.h. */
    const struct network_limit *limits; /* The mode's limits; NULL when the mode has no limits. */
    /* Why a node of this mode is of no use in a cluster: the error of the preflight check
     * NetworkMode. */
    const char *isolated;
    unsigned lacks; /* What the mode lacks, as MODE_LACKS_* bits. */
    unsigned flags; /* Flags of the Pod network: 8 = not persistent. */
    /* Types of policies without settings that are added after the network is created. */
    const char *const *policies;
    /* The inbound rule; without a name there is none. Port 0 means the VXLAN port. */
    struct host_firewall_rule firewall;

    /* Sets the plan's other names and numbers. Fails as network_plan_make(). */
    int (*plan)(const struct network_input *input, struct network_plan *plan, struct error *err);
    /* Makes, or waits for, what Pods need in addition to the network. Fails with ERROR_TIMED_OUT
     * when HNS does not show it in time, ERROR_CONFLICT when something is in its place that winjoin
     * did not make, ERROR_ABSENT when the network, or an interface that is up with the node's
     * address, is gone, ERROR_MALFORMED when HNS's answer cannot be read, ERROR_INTERRUPTED, or as
     * the calls of HNS (host/host.h). What was made stays; a second call goes on with it. */
    int (*complete)(struct host *host, const struct network_plan *plan, struct hcn_network *network,
                    struct error *err);
    /* This function and the two after it are NULL where the network finds other nodes by itself.
     * route_to makes the route to the Pods of another node (new reference); NULL when that node has
     * not announced how it is reached. */
    json_t *(*route_to)(const struct network_plan *plan, const struct network_peer *peer);
    /* Adds the routes that exist now to the list. Fails with ERROR_ABSENT when the network, or an
     * interface that is up with the node's address, does not exist, ERROR_MALFORMED when HNS's
     * answer cannot be read, or as the call that lists them (of HNS, or host_routes()); the list
     * is then unchanged. */
    int (*routes_read)(struct host *host, const struct network_plan *plan, json_t *list,
                       struct error *err);
    /* Adds missing routes; with `only` it also removes all others. Fails with ERROR_MALFORMED for
     * documents that are no routes of this mode. */
    int (*routes_write)(struct host *host, const struct network_plan *plan, const json_t *routes,
                        bool only, struct error *err);
    /* Removes these routes; an absent route is no failure. NULL when routes_write with `only`
     * removes routes. */
    int (*routes_remove)(struct host *host, const struct network_plan *plan, const json_t *routes,
                         struct error *err);
};

/* The modes of this build, in the order of the table, the default first. */
extern const struct network_mode *const network_modes[];
/* Finds a mode by name, ignoring case; NULL when no mode has it. */
const struct network_mode *network_mode_by_name(const char *name);
/* Returns the mode of this CNI plugin, or NULL. Of several modes of the plugin it returns the one
 * with this HNS type, otherwise (or when hns_type is NULL) the first. */
const struct network_mode *network_mode_by_cni(const char *plugin, const char *hns_type);
/* Adds the names of all modes, in the order of the table. */
void network_mode_names(struct text_list *ret);

/* The table of modes. A row names the file and the constant (modes/overlay.c:
 * network_mode_overlay). */
#define NETWORK_MODES(ROW)                                                                         \
    ROW(overlay)                                                                                   \
    ROW(l2bridge)                                                                                  \
    ROW(l2tunnel)                                                                                  \
    ROW(transparent)                                                                               \
    ROW(nat)
#define NETWORK_MODE_DECLARE(mode) extern const struct network_mode network_mode_##mode;
NETWORK_MODES(NETWORK_MODE_DECLARE)
