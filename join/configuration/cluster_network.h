/* What a cluster says of its pod network: the DaemonSets of network agents on Windows nodes, and
 * the agents' ConfigMaps. */
#pragma once

#include "kube/client.h"
#include "netsetup/agents/agent.h"

/* Finds them in any namespace: by one list of all DaemonSets' names, or by a request for each known
 * name where that list may not be read. *ret_unread is set when some may not be
 * read (403): then only what may be read is known. *ret: agent_settings_free(), on failure, too.
 * ERROR_MALFORMED names the object; ERROR_USAGE: an agent's setting that must be corrected. */
int cluster_network_read(struct kube_client *client, unsigned timeout_ms,
                         struct agent_settings *ret, bool *ret_unread, struct error *err);
