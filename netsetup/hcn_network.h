/* HNS networks and the host's endpoint: looked up by name, compared, reused, replaced only when
 * ours. */
#pragma once

#include "netsetup/hcn_documents.h"
#include "netsetup/hcn_lookup.h"
#include "netsetup/network_plan.h"

struct network_prefixes; /* netsetup/network_prefixes.h */

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
/* The whole pod network of the plan: network, policies, then what its mode completes it with (a
 * wait for the ProviderAddress of <= 60 s; the host endpoint, attached, with forwarding). Running
 * it twice changes nothing. */
int hcn_pod_network_ensure(struct host *host, const struct network_plan *plan,
                           struct hcn_network *ret, enum hcn_outcome *ret_outcome,
                           struct error *err);

/* Looks for networks that stand in the plan's way, before anything is touched: one of another
 * vSwitch mode on the same adapter, one whose subnet overlaps the pods', the services' or the base
 * network's. ERROR_PREFLIGHT names it. */
int hcn_clash_check(struct host *host, const struct network_plan *plan, struct error *err);
/* What the cluster's agent that makes the network (plan->external) does without on this machine: a
 * service of Windows; or a network that is in its way. ERROR_PREFLIGHT names it. Without
 * such an agent there is nothing to ask. */
int hcn_external_check(struct host *host, const struct network_plan *plan, struct error *err);

/* The host's own endpoint on a bridge (L2Bridge, L2Tunnel), functions of a struct network_mode.
 * hcn_host_endpoint_plan: names; the network's default name is flanneld's, "cbr0".
 * hcn_host_endpoint_address: the pod prefix's base+2, the pods' gateway; HNS's own is base+1.
 * hcn_host_endpoint_complete: makes the endpoint and attaches it to the host's compartment
 * ("already attached" is success); host and endpoint forward. One with another address is replaced
 * when the network is ours, else ERROR_CONFLICT; ERROR_TIMED_OUT: no interface with the address. */
int hcn_host_endpoint_plan(const struct network_input *input, struct network_plan *plan,
                           struct error *err);
int hcn_host_endpoint_address(const struct network_prefixes *prefixes, struct network_plan *plan,
                              struct error *err);
int hcn_host_endpoint_complete(struct host *host, const struct network_plan *plan,
                               struct hcn_network *network, struct error *err);

/* Attaches an endpoint to the host's compartment by HNS version 1, once; "already attached" is
 * success (flannel does the same). ERROR_HOST with HNS's reason. */
int hcn_endpoint_attach(struct host *host, const char *id, struct error *err);

/* Removes the network by name with its endpoints, the load balancers on them and the namespaces of
 * the pods that held them, only when it is ours; absent is success; another owner's is left alone
 * (*ret_removed false). ret_removed may be NULL. */
int hcn_network_remove(struct host *host, const char *name, bool *ret_removed, struct error *err);
/* The same, whoever's it is. */
int hcn_network_delete(struct host *host, const char *name, bool *ret_removed, struct error *err);
