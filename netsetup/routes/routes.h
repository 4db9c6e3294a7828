/* Routes to other nodes' pods: the host's own through those nodes, with forwarding, or over VXLAN
 * as policies of the network. */
#pragma once

#include "host/host.h"
#include "netsetup/plan/network_plan.h"

/* Other nodes and the routes to their pods: read from Node objects, written, and remembered for the
 * boot service, as Windows forgets overlay networks with their policies at a restart. */

/* One other node, as its Node object tells of it. Text is borrowed from that; NULL or "" or 0 = not
 * said. */
struct network_peer {
    const char *node;         /* metadata.name */
    const char *pod_cidr;     /* of its pods, IPv4; may be `subnet`: then it is not copied */
    const char *node_address; /* its first InternalIP of IPv4 */
    const char *pod_cidr6, *node_address6;
    /* what an agent announces about it in annotations */
    bool announced;
    const char *backend;        /* the agent's word for its mode */
    const char *address;        /* behind which its pods are */
    char subnet[CIDR_TEXT_MAX]; /* of its pods, where the agent says it in its own way */
    char router_mac[24];        /* of its end of VXLAN's tunnels */
    unsigned vni;
};
/* Pure. */
void network_peer_read(const json_t *node, struct network_peer *ret);

/* The routes to the pods of all nodes of a NodeList but `own`, as the mode writes them; nodes that
 * do not say yet how they are reached are left out. Pure; new reference, an array. */
json_t *peers_of_nodes(const struct network_plan *plan, const json_t *nodes, const char *own);
/* Those that stand now. New reference; empty where an agent keeps them. */
int peers_read(struct host *host, const struct network_plan *plan, json_t **ret, struct error *err);
enum { PEERS_MAX = 5000 };
/* Takes these routes away, but not those that are policies of the HNS network: it takes them along.
 */
int peers_remove(struct host *host, const struct network_plan *plan, const json_t *peers,
                 struct error *err);
/* Adds those that are missing, and takes others away when they are to be the `only` ones. The
 * network must stand. ERROR_MALFORMED for an array that neither peers_of_nodes() nor peers_read()
 * made; NULL is empty. */
int peers_write(struct host *host, const struct network_plan *plan, const json_t *peers, bool only,
                struct error *err);

/* One other node: its pod prefix by its address on the same segment. */
struct pod_route {
    char pod_cidr[CIDR_TEXT_MAX];
    char node_address[IP_TEXT_MAX];
};
/* Makes the host's routes to these prefixes be exactly these on the interface that holds
 * `management_address`: adds missing ones, replaces another next hop. *ret_changed (or NULL)
 * counts. */
int pod_routes_ensure(struct host *host, const char *management_address,
                      const struct pod_route *routes, size_t count, size_t *ret_changed,
                      struct error *err);
/* Removes exactly these; absent is success. */
int pod_routes_remove(struct host *host, const struct pod_route *routes, size_t count,
                      struct error *err);
/* What these do: `routes_*` of struct network_mode. A route is {podCIDR, nodeAddress}; `only` is
 * not looked at: others may be the administrator's. */
json_t *pod_route_to(const struct network_plan *plan, const struct network_peer *peer);
int pod_routes_read(struct host *host, const struct network_plan *plan, json_t *list,
                    struct error *err);
int pod_routes_write(struct host *host, const struct network_plan *plan, const json_t *routes,
                     bool only, struct error *err);
int pod_routes_forget(struct host *host, const struct network_plan *plan, const json_t *routes,
                      struct error *err);
/* Forwarding on the interface that holds this address, for its family. */
int forwarding_ensure(struct host *host, const char *address, struct error *err);

/* RemoteSubnetRoute policies of the network; what these do: `routes_*` of struct network_mode. The
 * policy: to the prefix of the node's pods, behind the address and the router's MAC that its
 * Node announces. */
json_t *remote_subnet_to(const struct network_plan *plan, const struct network_peer *peer);
int remote_subnets_read(struct host *host, const struct network_plan *plan, json_t *list,
                        struct error *err);
int remote_subnets_write(struct host *host, const struct network_plan *plan, const json_t *routes,
                         bool only, struct error *err);
