/* The routes from this node's pods to other nodes', as far as an agent keeps them: what diag judges
 * when flows are red (OVL-PEER, L2-ROUTE), asked by a join that waits for the agent. */
#pragma once

#include "diag/evidence.h"
#include "netsetup/agents/agent.h"

/* The part of diag_evidence_read() that is needed here; of `options` node, nodes, network_name and
 * network_mode. New reference. */
json_t *diag_routes_read(struct host *host, const struct diag_evidence_options *options);
/* One line for each route that is missing or leads elsewhere than the other node's annotations say
 * ("no RemoteSubnetRoute for 10.244.1.0/24 (node l1)"); *ret_peers counts the nodes that the
 * agent has to write a route to. Answers whether this node's own annotations tell others how it is
 * reached. Pure; text_list_free(). */
bool diag_routes_missing(const json_t *evidence, const struct network_agent *agent,
                         size_t *ret_peers, struct text_list *ret);
