/* The pod network where a DaemonSet of the cluster makes it. */
#pragma once

#include "join/join.h"

/* Waits, as long as its agent may take (network_agent_wait()), until a CNI configuration is there,
 * and says whose. ERROR_TIMED_OUT with the command that shows the agent's pod; kinds of
 * host_list(), host_read(). */
int external_network_await(struct join *join, struct error *err);
/* An agent writes its CNI configuration, with which the Node becomes Ready, before its network
 * stands: while it is pending, the scheduler must not take the node. Sent only when it changes. */
int external_network_pending(struct join *join, bool pending, struct error *err);
