/* What a call asks of the network against what the cluster says of it. */
#pragma once

#include "join/join.h"

/* Refuses what cannot work before the first thing is changed: another plugin, mode, VNI or port
 * than the cluster's agent, pod prefixes outside the agent's, two kube-proxies; with the agent's
 * own limits. A node that joined with another plugin keeps it. ERROR_USAGE names both sides, with a
 * hint; ERROR_UNSUPPORTED. */
int network_fit_check(const struct cluster_config *cluster, const struct join_options *options,
                      const struct network_input *input, bool joined, struct error *err);
/* ERROR_CONFLICT, with a hint: another Node has this machine's host name, in any case, where the
 * agent tells nodes apart by it, or some of the prefix that the call asks for. Who may not list
 * Nodes is passed over. */
int network_fit_check_nodes(struct join *join, struct error *err);
/* Tells what goes on, but is worth a look. */
void network_fit_warn(struct join *join);
