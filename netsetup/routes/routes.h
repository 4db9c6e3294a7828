/* Routes to other nodes' Pods: either host routes through those nodes, with IP forwarding, or VXLAN
 * routes as policies of the HNS network. */
#pragma once

#include "host/host.h"
#include "netsetup/plan/network_plan.h"

/* Other nodes and the routes to their Pods. They are read from Node objects, written, and stored
 * for the service winjoin-network, because Windows forgets overlay networks and their policies at a
 * restart. */

/* Another node, as its Node object describes it. Text is borrowed from that object. NULL, "" or 0
 * when not given. */
struct network_peer {
    const char *node; /* Name of the Node (metadata.name). */
    /* IPv4 prefix of the Pods. It may point to `subnet`; then the struct must not be copied. */
    const char *pod_cidr;
    const char *node_address; /* The first IPv4 InternalIP of the Node. */
    const char *pod_cidr6, *node_address6;
    /* What an agent announces about the node in annotations. */
    bool announced;
    const char *backend; /* The agent's name of the node's mode. */
    const char *address; /* The address through which the node's Pods are reached. */
    /* Prefix of the node's Pods, where the agent has its own format for it. */
    char subnet[CIDR_TEXT_MAX];
    char router_mac[24]; /* MAC of the node's VXLAN tunnel endpoint. */
    unsigned vni;
};
/* Reads a Node object. Pure. */
void network_peer_read(const json_t *node, struct network_peer *ret);

/* Returns the routes to the Pods of all nodes of a NodeList except `own`, in the format of the
 * mode. Nodes that have not yet announced how they are reached are skipped. Pure; new reference, an
 * array. */
json_t *node_routes_of_nodes(const struct network_plan *plan, const json_t *nodes, const char *own);
/* Reads the routes that exist now. New reference; empty where an agent keeps the routes. */
int node_routes_read(struct host *host, const struct network_plan *plan, json_t **ret,
                     struct error *err);
enum { PEERS_MAX = 5000 };
/* Removes these routes, except policies of the HNS network, which disappear with the network. */
int node_routes_remove(struct host *host, const struct network_plan *plan, const json_t *peers,
                       struct error *err);
/* Adds the missing routes; with `only`, also removes all others. The network must exist. `peers` is
 * an array from node_routes_of_nodes() or node_routes_read(), else ERROR_MALFORMED; NULL is empty.
 */
int node_routes_write(struct host *host, const struct network_plan *plan, const json_t *peers,
                      bool only, struct error *err);

/* Route to the Pods of one other node on the same segment. */
struct pod_route {
    char pod_cidr[CIDR_TEXT_MAX];
    char node_address[IP_TEXT_MAX];
};
/* Ensures these host routes on the interface that has `management_address`: adds missing ones and
 * replaces those with another next hop. *ret_changed (or NULL) counts the changes. */
int pod_routes_ensure(struct host *host, const char *management_address,
                      const struct pod_route *routes, size_t count, size_t *ret_changed,
                      struct error *err);
/* Removes exactly these host routes; absent is success. */
int pod_routes_remove(struct host *host, const struct pod_route *routes, size_t count,
                      struct error *err);
/* Functions of struct network_mode for modes with host routes, whose next hop is the other node. A
 * route is {podCIDR, nodeAddress}. `only` is ignored, since other routes may be the
 * administrator's. */
json_t *next_hop_route_to(const struct network_plan *plan, const struct network_peer *peer);
int next_hop_routes_read(struct host *host, const struct network_plan *plan, json_t *list,
                         struct error *err);
int next_hop_routes_write(struct host *host, const struct network_plan *plan, const json_t *routes,
                          bool only, struct error *err);
int next_hop_routes_remove(struct host *host, const struct network_plan *plan, const json_t *routes,
                           struct error *err);
/* Turns on forwarding on the interface that has this address, for its family. */
int forwarding_ensure(struct host *host, const char *address, struct error *err);

/* Functions of struct network_mode for modes with RemoteSubnetRoute policies. Such a policy has the
 * prefix of a node's Pods, and the address and router MAC that this Node announces. */
json_t *remote_subnet_to(const struct network_plan *plan, const struct network_peer *peer);
int remote_subnets_read(struct host *host, const struct network_plan *plan, json_t *list,
                        struct error *err);
int remote_subnets_write(struct host *host, const struct network_plan *plan, const json_t *routes,
                         bool only, struct error *err);
