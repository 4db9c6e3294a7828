/* HNS networks and the host's endpoint: looked up by name, compared, reused, replaced only when
 * ours. */
#pragma once

#include "netsetup/hns/hcn_documents.h"
#include "netsetup/hns/hcn_lookup.h"
#include "netsetup/plan/network_plan.h"

enum hcn_outcome { HCN_REUSED, HCN_CREATED, HCN_REPLACED };

/* Makes the network of this document stand. Equal (type, subnet, gateway, VSID, adapter): reused,
 * and policies of `policies` (array, may be NULL) that are missing are added. Unequal and ours
 * (Owner): our endpoints and the network are deleted and it is created. Unequal and not ours:
 * ERROR_CONFLICT with a hint. A create whose answer is lost or says "exists" is looked up again and
 * compared. */
int hcn_network_ensure(struct host *host, const json_t *document, const json_t *policies,
                       struct hcn_network *ret, enum hcn_outcome *ret_outcome, struct error *err);
/* Would hcn_network_ensure() take this network for that of the document, as it is? */
bool hcn_network_serves(const struct hcn_network *found, const json_t *document);
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
 * the pods that held them, only when it is ours; absent is success; another owner's is left alone
 * (*ret_removed false). ret_removed may be NULL. */
int hcn_network_remove(struct host *host, const char *name, bool *ret_removed, struct error *err);
/* The same, whoever's it is. */
int hcn_network_delete(struct host *host, const char *name, bool *ret_removed, struct error *err);
