/* The load balancers that kube-proxy keeps in HNS. */
#pragma once

#include "base/json.h"
#include "tests/standins/kube-proxy/network.h"

/* Deletes every load balancer there is, as upstream does at its start. */
int balancers_delete_all(struct host *host, struct error *err);
/* Makes HNS be what the rules say: deletes what changed or went, creates what is missing. What
 * fails is logged and tried at the next sync. */
void balancers_sync(struct proxy_network *network, const json_t *rules);
