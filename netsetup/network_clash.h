/* Other people's networks on this host, against the plan. */
#pragma once

#include "host/host.h"
#include "netsetup/plan/network_plan.h"

/* Looks for networks that stand in the plan's way, before anything is touched: one of another
 * vSwitch mode on the same adapter, one whose subnet overlaps the pods', the services' or the base
 * network's, one that has the name of one of the plan's and cannot be that one. ERROR_PREFLIGHT
 * names them all, the first with its reason; the hints have the commands that delete them. */
int network_clash_check(struct host *host, const struct network_plan *plan, struct error *err);
/* What the cluster's agent that makes the network (plan->external) does without on this machine: a
 * service of Windows; or a network that is in its way. ERROR_PREFLIGHT names it. Without
 * such an agent there is nothing to ask. */
int network_external_check(struct host *host, const struct network_plan *plan, struct error *err);
