/* The network at boot: Windows forgets overlay networks, so the service winjoin-network makes them
 * again from what the join wrote down. */
#ifndef NETSETUP_BOOT_NETWORK_H
#define NETSETUP_BOOT_NETWORK_H

#include "base/error.h"
#include "base/json.h"
#include "host/host.h"
#include "netsetup/network_plan.h"

#define BOOT_NETWORK_FILE "C:\\ProgramData\\winjoin\\network.json"

/* The input of a plan as the file's document and back. boot_network_read answers text that is
 * borrowed from the JSON; its lists are owned (boot_network_input_free). ERROR_MALFORMED. */
json_t *boot_network_json(const struct network_input *input);
int boot_network_read(const json_t *json, struct network_input *ret, struct error *err);
void boot_network_input_free(struct network_input *input);

/* Reads the file and creates base and pod network, and the routes to other nodes that the file's
 * "peers" (netsetup/peers.h) remember. No file: nothing to do. Safe to run at any time. */
int boot_network_run(struct host *host, struct error *err);

#endif
