/* What Services and EndpointSlices ask for, as a list of rules. Pure. */
#ifndef TESTS_STANDINS_KUBE_PROXY_RULES_H
#define TESTS_STANDINS_KUBE_PROXY_RULES_H

#include "base/json.h"

/* "ns/name:port/protocol" -> {"vip","protocol":6|17,"port","targetPort","nodePort"?,"affinity",
 * "endpoints":[{"ip","local"}]}: one for each port of each Service with a ClusterIP. New
 * reference. */
json_t *rules_make(const json_t *services, const json_t *slices, const char *hostname);

#endif
