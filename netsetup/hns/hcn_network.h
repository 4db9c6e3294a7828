/* HNS networks and the host's endpoint: makes their documents, finds them by name, compares them,
 * reuses them, and replaces only winjoin's own. */
#pragma once

#include "base/cidr.h"
#include "host/host.h"
#include "netsetup/plan/network_plan.h"

/* HCN documents (schema 2.0) and the few of HNS version 1. Pure.
 *
 * Shapes: HostComputeNetwork, HostComputeEndpoint, ModifyNetworkSettingRequest, HostComputeQuery of
 * ComputeNetwork.h. Every function returns a new reference. */

/* The `Owner` of each HNS object that winjoin makes. */
#define HCN_OWNER "winjoin"

/* Returns the base network "External". It has the type of the Pod network, is persistent, and has a
 * /30 subnet that nothing uses. It creates the vSwitch, with the one network outage, and keeps the
 * vSwitch when Pod networks are deleted. */
json_t *hcn_base_network_json(const struct network_plan *plan);
/* Returns the Pod network. Type and flags come from the mode, VSID and VXLAN port from the plan. */
json_t *hcn_pod_network_json(const struct network_plan *plan);
/* Returns the host's own endpoint in mode l2bridge, with the address base+2 of the Pod prefix. */
json_t *hcn_host_endpoint_json(const struct network_plan *plan, const char *network_id);
/* Returns the body of HNS version 1 "POST /endpoints/<id>/attach", to attach to the host's
 * compartment. */
json_t *hcn_host_attach_json(void);

/* Returns a policy of this type. Takes the reference of its settings; NULL means {}. */
json_t *hcn_policy_json(const char *type, json_t *settings);
/* Returns a request
 * {"ResourceType":"Policy","RequestType":"Add"|"Remove","Settings":{"Policies":[policy]}}. The
 * reference of the policy is taken. */
json_t *hcn_modify_policy_json(bool add, json_t *policy);
/* Returns the policies that are added after the network is created, as flanneld does (`policies` of
 * the mode). An array; may be empty. */
json_t *hcn_network_policies_json(const struct network_plan *plan);

/* Returns a query for objects whose member `key` has this value. Its Filter is JSON in a string. */
json_t *hcn_query_json(const char *key, const char *value);

/* Lookups in HNS: lists of objects by a filter, and one network by name. */

enum { HCN_ID_MAX = 40 };

/* The properties of an HNS network that winjoin compares or needs. Text that is absent is "". */
struct hcn_network {
    char id[HCN_ID_MAX];
    char name[256];
    char type[32];              /* The network's type, e.g. "Overlay", "L2Bridge". */
    char owner[64];             /* The Owner; "winjoin" for networks that winjoin made. */
    char adapter[256];          /* The adapter's name, from the policy NetAdapterName. */
    char subnet[CIDR_TEXT_MAX]; /* Prefix of the first subnet. */
    char gateway[IP_TEXT_MAX];
    char subnet6[CIDR_TEXT_MAX]; /* Prefix of the first IPv6 subnet. */
    char gateway6[IP_TEXT_MAX];
    unsigned vsid; /* VSID of the first subnet; 0 when it has none. */
    /* Management address, which HNS sets in overlay networks. */
    char provider_address[IP_TEXT_MAX];
    char router_mac[24]; /* DrMacAddress of overlay networks, as HNS writes it. */
};

/* Reads a queried HostComputeNetwork. Pure. Fails with ERROR_MALFORMED for a text that is too long
 * or a value of another type. */
int hcn_network_parse(const json_t *properties, struct hcn_network *ret, struct error *err);
bool hcn_network_is_ours(const struct hcn_network *network);

/* Reads all HNS objects of this kind into an array of queried documents (new reference). With
 * `key`, only those whose property (Name, ID, VirtualNetwork) has this value. Objects that are
 * deleted during the call are left out. */
int hcn_list(struct host *host, enum hcn_kind kind, const char *key, const char *value,
             json_t **ret, struct error *err);
/* Reads the ids of the same objects as hcn_list(): an array of texts, new reference. */
int hcn_ids(struct host *host, enum hcn_kind kind, const char *key, const char *value, json_t **ret,
            struct error *err);
/* Reads the object with this id and adds it to the list. Adds nothing when it was deleted
 * meanwhile. */
int hcn_add(struct host *host, enum hcn_kind kind, const char *id, json_t *list, struct error *err);
/* Finds a network by its exact name, which is unique in HNS. Fails with ERROR_ABSENT. */
int hcn_network_find(struct host *host, const char *name, struct hcn_network *ret,
                     struct error *err);
/* Does the same as hcn_network_find() and also returns the whole document (new reference). */
int hcn_network_find_json(struct host *host, const char *name, struct hcn_network *ret,
                          json_t **ret_json, struct error *err);

enum hcn_outcome { HCN_REUSED, HCN_CREATED, HCN_REPLACED };

/* Makes sure that the network of this document exists. An equal network (type, subnet, gateway,
 * VSID, adapter) is reused, and missing policies of `policies` (array, may be NULL) are added. A
 * different one whose Owner is winjoin is deleted with its endpoints and created again. A different
 * one of another owner fails with ERROR_CONFLICT and a hint. When the answer to a create is lost or
 * says "exists", the network is looked up and compared. */
int hcn_network_ensure(struct host *host, const json_t *document, const json_t *policies,
                       struct hcn_network *ret, enum hcn_outcome *ret_outcome, struct error *err);
/* Does hcn_network_ensure() accept the existing network as the wanted one, without a change? */
bool hcn_network_serves(const struct hcn_network *found, const struct hcn_network *wanted);
/* Ensures the base network of the plan ("External"). */
int hcn_base_network_ensure(struct host *host, const struct network_plan *plan,
                            struct hcn_network *ret, enum hcn_outcome *ret_outcome,
                            struct error *err);
/* Ensures the whole Pod network of the plan: the network, its policies, and what the mode adds (it
 * waits up to 60 s for the ProviderAddress, or makes and attaches the host's endpoint and turns on
 * forwarding). A second call changes nothing. */
int hcn_pod_network_ensure(struct host *host, const struct network_plan *plan,
                           struct hcn_network *ret, enum hcn_outcome *ret_outcome,
                           struct error *err);

/* Attaches an endpoint to the host's compartment by one call of HNS version 1. "already attached"
 * is success, as in flannel. Fails with ERROR_HOST and the reason from HNS. */
int hcn_endpoint_attach(struct host *host, const char *id, struct error *err);

/* Removes the network with this name, its endpoints, the load balancers on them, and the namespaces
 * of the Pods that had them. Succeeds if it is absent. With `only_ours`, a network of another owner
 * is kept (*ret_removed is false). ret_removed may be NULL. */
int hcn_network_remove(struct host *host, const char *name, bool only_ours, bool *ret_removed,
                       struct error *err);
