/* HNS networks and the host's endpoint: their documents, looked up by name, compared, reused,
 * replaced only when ours. */
#pragma once

#include "base/cidr.h"
#include "host/host.h"
#include "netsetup/plan/network_plan.h"

/* HCN documents (schema 2.0) and the few HNS version 1 ones, made in one place. Pure.
 * Shapes: HostComputeNetwork, HostComputeEndpoint, ModifyNetworkSettingRequest, HostComputeQuery of
 * ComputeNetwork.h. Every function answers a new reference. */

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

/* Looking things up in HNS: lists by filter, one network by name, what it says about itself. */

enum { HCN_ID_MAX = 40 };

/* What a network in HNS is, as far as winjoin compares and needs it. Text that is absent is "". */
struct hcn_network {
    char id[HCN_ID_MAX];
    char name[256];
    char type[32];              /* "Overlay", "L2Bridge", ... */
    char owner[64];             /* "winjoin" = ours */
    char adapter[256];          /* NetAdapterName policy */
    char subnet[CIDR_TEXT_MAX]; /* of the first subnet */
    char gateway[IP_TEXT_MAX];
    char subnet6[CIDR_TEXT_MAX]; /* of the first IPv6 subnet behind it */
    char gateway6[IP_TEXT_MAX];
    unsigned vsid;                      /* 0 = none */
    char provider_address[IP_TEXT_MAX]; /* overlay, read back: management address */
    char router_mac[24];                /* overlay, read back: DrMacAddress, as HNS spells it */
};

/* Reads a queried HostComputeNetwork. Pure; too long or of another type: ERROR_MALFORMED. */
int hcn_network_parse(const json_t *properties, struct hcn_network *ret, struct error *err);
bool hcn_network_is_ours(const struct hcn_network *network);

/* Every object of the kind as HNS tells it (array of queried documents, new reference); key NULL:
 * all, else those whose property (Name, ID, VirtualNetwork) has the value. One that goes away
 * meanwhile is left out. */
int hcn_list(struct host *host, enum hcn_kind kind, const char *key, const char *value,
             json_t **ret, struct error *err);
/* The ids of those: an array of texts, new reference. */
int hcn_ids(struct host *host, enum hcn_kind kind, const char *key, const char *value, json_t **ret,
            struct error *err);
/* Adds the object of that id as HNS tells it to a list; nothing, when it went away meanwhile. */
int hcn_add(struct host *host, enum hcn_kind kind, const char *id, json_t *list, struct error *err);
/* By exact name (HNS keeps names of networks unique). Absent: ERROR_ABSENT. */
int hcn_network_find(struct host *host, const char *name, struct hcn_network *ret,
                     struct error *err);
/* The same with the whole document (new reference). */
int hcn_network_find_json(struct host *host, const char *name, struct hcn_network *ret,
                          json_t **ret_json, struct error *err);

enum hcn_outcome { HCN_REUSED, HCN_CREATED, HCN_REPLACED };

/* Makes the network of this document stand. Equal (type, subnet, gateway, VSID, adapter): reused,
 * and policies of `policies` (array, may be NULL) that are missing are added. Unequal and ours
 * (Owner): our endpoints and the network are deleted and it is created. Unequal and not ours:
 * ERROR_CONFLICT with a hint. A create whose answer is lost or says "exists" is looked up again and
 * compared. */
int hcn_network_ensure(struct host *host, const json_t *document, const json_t *policies,
                       struct hcn_network *ret, enum hcn_outcome *ret_outcome, struct error *err);
/* Does hcn_network_ensure() take the network that it found for the wanted one, as it is? */
bool hcn_network_serves(const struct hcn_network *found, const struct hcn_network *wanted);
/* Base network of the plan ("External"). */
int hcn_base_network_ensure(struct host *host, const struct network_plan *plan,
                            struct hcn_network *ret, enum hcn_outcome *ret_outcome,
                            struct error *err);
/* The whole pod network of the plan: network, policies, then what its mode completes it with (a
 * wait for the ProviderAddress of <= 60 s; the host endpoint, attached, with forwarding). Running
 * it twice changes nothing. */
int hcn_pod_network_ensure(struct host *host, const struct network_plan *plan,
                           struct hcn_network *ret, enum hcn_outcome *ret_outcome,
                           struct error *err);

/* Attaches an endpoint to the host's compartment by HNS version 1, once; "already attached" is
 * success (flannel does the same). ERROR_HOST with HNS's reason. */
int hcn_endpoint_attach(struct host *host, const char *id, struct error *err);

/* Removes the network by name with its endpoints, the load balancers on them and the namespaces of
 * the pods that held them; absent is success. `only_ours`: another owner's network is left alone
 * (*ret_removed false); else it is removed, whoever's it is. ret_removed may be NULL. */
int hcn_network_remove(struct host *host, const char *name, bool only_ours, bool *ret_removed,
                       struct error *err);
