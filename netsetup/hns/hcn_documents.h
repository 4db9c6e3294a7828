/* HCN documents (schema 2.0) and the few HNS version 1 ones, made in one place. Pure.
 * Shapes: HostComputeNetwork, HostComputeEndpoint, ModifyNetworkSettingRequest, HostComputeQuery of
 * ComputeNetwork.h. Every function answers a new reference. */
#pragma once

#include "netsetup/plan/network_plan.h"

/* `Owner` of everything that winjoin makes. */
#define HCN_OWNER "winjoin"

/* The network "External": same type as the pod network, persistent, a /30 nobody uses; takes the
 * vSwitch outage once and keeps the vSwitch when pod networks go. */
json_t *hcn_base_network_json(const struct network_plan *plan);
/* The pod network: type and flags are the mode's, VSID and VXLAN port the plan's. */
json_t *hcn_pod_network_json(const struct network_plan *plan);
/* l2bridge: the host's own endpoint, at base+2. */
json_t *hcn_host_endpoint_json(const struct network_plan *plan, const char *network_id);
/* Body of HNS version 1 "POST /endpoints/<id>/attach" to the host's compartment. */
json_t *hcn_host_attach_json(void);

/* A network policy by type with its settings (stolen; NULL = {}). */
json_t *hcn_policy_json(const char *type, json_t *settings);
/* {"ResourceType":"Policy","RequestType":"Add"|"Remove","Settings":{"Policies":[policy]}}; the
 * policy's reference is stolen. */
json_t *hcn_modify_policy_json(bool add, json_t *policy);
/* Policies that are added to the network once it exists, as flanneld does (the mode's `policies`).
 * An array, may be empty. */
json_t *hcn_network_policies_json(const struct network_plan *plan);

/* The query for those whose member has the value. Filter is JSON inside a string. */
json_t *hcn_query_json(const char *key, const char *value);
