/* What Services and EndpointSlices ask for, as a list of rules. Pure. */
#pragma once

#include "base/json.h"

/* "ns/name:port/protocol" ("/6" behind it for IPv6) -> {"vip","protocol":6|17,"port","targetPort",
 * "nodePort"?,"affinity","endpoints":[{"ip","local"}]}: one for each port of each ClusterIP, those
 * of IPv6 with `ipv6` alone. New reference. */
json_t *rules_make(const json_t *services, const json_t *slices, bool ipv6, const char *hostname);
