/* What a cluster says of its pod network: the DaemonSets of network agents on Windows nodes, and
 * the agents' ConfigMaps. */
#pragma once

#include "kube/client.h"
#include "netsetup/agents/agent.h"

/* Finds them, each DaemonSet by its name in any namespace. *ret_unread is set when some may not be
 * read (403): then only what may be read is known. *ret: agent_settings_free(), on failure, too.
 * ERROR_MALFORMED names the object; ERROR_USAGE: an agent's setting that must be corrected. */
int cluster_network_read(struct kube_client *client, unsigned timeout_ms,
                         struct agent_settings *ret, bool *ret_unread, struct error *err);

/* For who may list everything, once: what no name tells. Where the cluster says nothing of an
 * agent, *settings gets linux_agent_unknown and by what it is known: the DaemonSets that write
 * CNI's files on Linux nodes, else a Linux node that is Ready without one; both NULL: there is no
 * network yet. Where Nodes show that a known agent's part for Windows nodes is on, *settings gets
 * that agent. Two requests at most, each of them a list (all pages). */
int cluster_network_search(struct kube_client *client, struct agent_settings *settings,
                           struct error *err);
