/* HNS networks and the host's endpoint: looked up by name, compared, reused, replaced only when
 * ours. */
#ifndef NETSETUP_HCN_NETWORK_H
#define NETSETUP_HCN_NETWORK_H

#include <stdbool.h>

#include "base/error.h"
#include "base/json.h"
#include "host/host.h"
#include "netsetup/hcn_documents.h"
#include "netsetup/network_plan.h"

enum { HCN_ID_MAX = 40 };

/* What a network in HNS is, as far as winjoin compares and needs it. Text that is absent is "". */
struct hcn_network {
    char id[HCN_ID_MAX];
    char name[256];
    char type[32]; /* "Overlay", "L2Bridge", ... */
    char owner[64];
    char adapter[256];
    char subnet[CIDR_TEXT_MAX]; /* of the first subnet */
    char gateway[IP_TEXT_MAX];
    unsigned vsid;                      /* 0 = none */
    char provider_address[IP_TEXT_MAX]; /* overlay, read back: management address */
    char router_mac[24];                /* overlay, read back: DrMacAddress, as HNS spells it */
    bool host_route;                    /* has the HostRoute policy */
};

/* Reads a queried HostComputeNetwork. Pure; fails with ERROR_MALFORMED. */
int hcn_network_read(const char *properties, struct hcn_network *ret, struct error *err);

/* Finds by exact name; absent: ERROR_NOT_FOUND. */
int hcn_network_find(struct host *host, const char *name, struct hcn_network *ret,
                     struct error *err);
/* All networks as HNS tells them: array of queried documents. *ret is a new reference. */
int hcn_list(struct host *host, enum hcn_kind kind, const char *key, const char *value,
             json_t **ret, struct error *err);

enum hcn_outcome { HCN_REUSED, HCN_CREATED, HCN_REPLACED };

/* Makes the network of this document stand. Equal (type, subnet, gateway, VSID, adapter): reused,
 * and policies of `policies` (array, may be NULL) that are missing are added. Unequal and ours
 * (Owner): our endpoints and the network are deleted and it is created. Unequal and not ours:
 * ERROR_CONFLICT with a hint. A create whose answer is lost or says "exists" is looked up again and
 * compared. */
int hcn_network_ensure(struct host *host, const json_t *document, const json_t *policies,
                       struct hcn_network *ret, enum hcn_outcome *ret_outcome, struct error *err);
/* Base network of the plan ("External"). */
int hcn_base_network_ensure(struct host *host, const struct network_plan *plan,
                            struct hcn_network *ret, enum hcn_outcome *ret_outcome,
                            struct error *err);
/* The whole pod network of the plan: network, policies, then for overlay the wait for its
 * ProviderAddress (<= 60 s), for l2bridge the host endpoint, attached, with forwarding on the
 * management and the endpoint interface (netsetup/routes.h). Running it twice changes nothing. */
int hcn_pod_network_ensure(struct host *host, const struct network_plan *plan,
                           struct hcn_network *ret, enum hcn_outcome *ret_outcome,
                           struct error *err);

/* l2bridge: the endpoint at base+2, attached to the host's compartment ("already attached" is
 * success). One with another address is replaced when the network is ours. */
int hcn_host_endpoint_ensure(struct host *host, const struct network_plan *plan,
                             const struct hcn_network *network, struct error *err);

/* Overlay without an agent: makes the RemoteSubnetRoute policies of the network be exactly these
 * (missing added, changed replaced, gone removed with their stored settings). */
int hcn_remote_subnets_ensure(struct host *host, const char *network_name,
                              const struct hcn_remote_subnet *remotes, size_t count,
                              struct error *err);

/* Removes the network by name with its endpoints and the load balancers on them, only when it is
 * ours; absent is success; another owner's is left alone (*ret_removed false). ret_removed may be
 * NULL. */
int hcn_network_remove(struct host *host, const char *name, bool *ret_removed, struct error *err);

#endif
