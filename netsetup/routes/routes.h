/* Routes to other nodes' pods: the host's own through those nodes, with forwarding, or over VXLAN
 * as policies of the network. */
#pragma once

#include "netsetup/plan/network_plan.h"
#include "netsetup/routes/peers.h"

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
char *pod_route_next(const struct network_plan *plan);
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
