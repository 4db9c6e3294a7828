/* What a join writes down of its network, so that the service winjoin-network can make it again:
 * Windows forgets overlay networks at boot, and HNS whenever it starts. */
#pragma once

#include "host/host.h"
#include "netsetup/plan/network_plan.h"

#define BOOT_NETWORK_FILE "C:\\ProgramData\\winjoin\\network.json"

/* The input of a plan as the file's document and back. boot_network_read answers text that is
 * borrowed from the JSON; its lists are owned (boot_network_input_free). ERROR_MALFORMED. */
json_t *boot_network_json(const struct network_input *input);
int boot_network_read(const json_t *json, struct network_input *ret, struct error *err);
void boot_network_input_free(struct network_input *input);

/* Reads the file; *ret_json is a new reference that the input borrows from. The file's "peers" are
 * the routes to other nodes (netsetup/routes/peers.h) as the join wrote them. ERROR_ABSENT: no join
 * has written it yet. */
int boot_network_load(struct host *host, json_t **ret_json, struct network_input *ret,
                      struct error *err);

/* Each file has one writer, so that none overwrites what another has just written: a join writes
 * the one above, winjoin-network this one, with the routes as they have become since. */
#define BOOT_ROUTES_FILE "C:\\ProgramData\\winjoin\\routes.json"
/* `network`: the join's file, as it was loaded. Fails as host_write(). */
int boot_routes_write(struct host *host, const json_t *network, const json_t *routes,
                      struct error *err);
/* The routes that count: winjoin-network's, where they were written since that join, else the
 * join's. New reference, an array. */
json_t *boot_routes(struct host *host, const json_t *network);
/* All that either remembers, an earlier join's too: what may be on the machine. */
json_t *boot_routes_ever(struct host *host, const json_t *network);
