/* The source VIP, which an overlay needs: the address behind which kube-proxy sends to other nodes,
 * reserved in host-local's own store so that no pod gets it. Layout: containernetworking/plugins
 * host-local's disk backend. */
#pragma once

#include "netsetup/hns/hcn_network.h"
#include "netsetup/plan/network_plan.h"
#include "netsetup/plan/network_prefixes.h"

#define SOURCE_VIP_UNKNOWN "<sourceVIP>" /* until HNS has chosen it */

/* Computes plan->source_vip: the pod prefix's third address, behind HNS's gateway; with an agent
 * that lets HNS choose it, SOURCE_VIP_UNKNOWN. Pure. */
int source_vip_plan(const struct network_prefixes *prefixes, struct network_plan *plan,
                    struct error *err);
/* The address of the pod prefix that host-local must be kept from by a reservation: the source VIP,
 * or the host's endpoint on a bridge whose CNI plugin drops host-local's range. NULL: none. */
const char *source_vip_reserved(const struct network_plan *plan);
/* Reserves that address (none: nothing to do) under CNI_STATE_DIR\<network>\<address>, and takes
 * back reservations of ours for other addresses (an earlier pod prefix). Held by somebody else:
 * ERROR_CONFLICT. */
int source_vip_ensure(struct host *host, const struct network_plan *plan, struct error *err);
/* With such an agent, fills plan->source_vip: the address that is reserved already. Else, or while
 * there is none, nothing happens. */
int source_vip_recall(struct host *host, struct network_plan *plan, struct error *err);
/* With such an agent, makes that address stand: the one that is reserved; else that of the agent's
 * endpoint on the network, which is made and attached to the host where it is absent by HNS version
 * 1, as Windows Machine Config Operator does. Kinds: of HNS,
 * ERROR_MALFORMED for an answer without a usable address. */
int source_vip_choose(struct host *host, struct network_plan *plan,
                      const struct hcn_network *network, struct error *err);
/* Gives back what is ours in this network's store; absent is success. */
int source_vip_remove(struct host *host, const char *network_name, struct error *err);
/* host-local keeps the store for ever: one whose reservations lie outside the plan's pod prefix is
 * stale (an earlier join). Removes exactly those. */
int ipam_stale_remove(struct host *host, const struct network_plan *plan, struct error *err);
