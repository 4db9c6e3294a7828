/* The HNS network behind kube-proxy and its endpoints. */
#pragma once

#include "base/json.h"
#include "tests/standins/kube-proxy/config.h"

struct proxy_network {
    struct host *host;
    const struct proxy_settings *settings;
    char host_mac[18]; /* colons, of the adapter that has the node's address */
    bool overlay;
    json_t *network;   /* as queried by the last proxy_network_refresh() */
    json_t *endpoints; /* address -> endpoint */
};

/* Waits for the network, in seconds, for ever; overlay: finds the host's MAC and makes the source
 * VIP's endpoint. -1: the program must end with 1. */
int proxy_network_open(struct host *host, const struct proxy_settings *settings,
                       struct proxy_network *ret, struct error *err);
/* Reads network and endpoints again. The network gone: ERROR_ABSENT. */
int proxy_network_refresh(struct proxy_network *network, struct error *err);
/* Dual stack, as upstream finds it: an IPv6 subnet in the network. */
bool proxy_network_has_ipv6(const struct proxy_network *network);
/* The id (borrowed) of the endpoint for a backend address, a remote one is made if need be. NULL:
 * leave it out (local but not there, or err is set). */
const char *proxy_backend(struct proxy_network *network, const char *ip, bool local,
                          struct error *err);
/* Overlay: the remote endpoint of a ClusterIP. */
int proxy_service_endpoint(struct proxy_network *network, const char *vip, struct error *err);
/* Overlay: the address behind which a load balancer with this backend must send: the node's own for
 * other nodes and the world outside, else the source VIP. */
const char *proxy_source_vip(const struct proxy_network *network, const char *ip);
