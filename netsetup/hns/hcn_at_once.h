/* All endpoints or load balancers of HNS by two calls: its version 2 tells ids alone, and takes
 * three calls more for each; version 1 tells its lists whole (GET /endpoints/, GET /policylists/:
 * hcsshim's HNSEndpoint and PolicyList). */
#pragma once

#include "base/json.h"
#include "host/host.h"

/* As hcn_list() of HCN_ENDPOINT or HCN_LOAD_BALANCER, with the members alone that version 1 tells,
 * too: of an endpoint ID, Name, HostComputeNetwork, Flags (remote) and one IpAddress; of a load
 * balancer ID, HostComputeEndpoints, SourceVIP, FrontendVIPs, PortMappings and Flags (DSR). Where
 * version 1 does not answer, or not with as many as version 2 has ids, hcn_list() does, with all
 * its calls. New reference. Kinds: those of hcn_list(). */
int hcn_list_at_once(struct host *host, enum hcn_kind kind, json_t **ret, struct error *err);
