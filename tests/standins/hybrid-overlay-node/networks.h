/* The two HNS networks of hybrid-overlay-node and the routes in the second, in the documents that
 * upstream sends. */
#pragma once

#include "base/error.h"
#include "base/json.h"
#include "host/host.h"

/* The base network, reused where it stands. port: 0 or 4789: HNS's own. */
int base_network_ensure(struct host *host, long long port, struct error *err);
/* The network for this node's pods; an existing one is reused where its prefix is this. *ret: as
 * HNS tells it, new reference. */
int pod_network_ensure(struct host *host, const char *subnet, long long port, json_t **ret,
                       struct error *err);
/* Adds or removes the route to another node's pods. */
int remote_route(struct host *host, const char *request, const char *subnet, const char *address,
                 const char *mac, struct error *err);
/* Removes every route: a new start adds those that live. */
int remote_routes_clear(struct host *host, struct error *err);
