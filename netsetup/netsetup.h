/* Parts of the node's Pod network outside of HNS: the CNI configuration, the firewall rules and the
 * source VIP. Also the check for networks of other programs that are in conflict with the plan. The
 * caller frees each char * that a function returns or stores through a pointer. */
#pragma once

#include "host/host.h"
#include "netsetup/hns/hcn_network.h"
#include "netsetup/plan/network_plan.h"
#include "services/containerd_settings.h"

/* ---- the CNI configuration of containerd, which the CNI plugin makes (netsetup/plugins) ---- */

#define CNI_STATE_DIR "C:\\var\\lib\\cni\\networks"
/* Results of libcni, which is part of containerd. */
#define CNI_RESULTS_DIR "C:\\var\\lib\\cni\\results"

/* Returns the path of the plan's CNI file: 10-winjoin.conf, or .conflist if the plugin needs it. */
char *cni_config_path(const struct network_plan *plan);

/* Makes the configuration for the plan's CNI plugin: exceptions from NAT, routes for Services,
 * loopback DSR as planned, and an address range without .1 and .2. Pure; new reference. While the
 * Pod prefix is unknown its values are "<podCIDR>". */
json_t *cni_config_json(const struct network_plan *plan);

/* Adds the full paths of files in the folder that containerd would read before winjoin's (*.conf,
 * *.conflist, *.json that sort lower). The caller renames them and records that. */
int cni_conflicts(struct host *host, const char *folder, struct text_list *ret, struct error *err);

/* Reads the configuration that containerd uses from the folder: the first file by name. *ret_path
 * is its full path; *ret a new reference. Fails with ERROR_ABSENT (no folder, no configuration in
 * it), ERROR_MALFORMED (no JSON, no name, no type), or as host_read(). Nothing is set on
 * failure. */
int cni_config_read(struct host *host, const char *folder, char **ret_path, json_t **ret,
                    struct error *err);
/* Returns the plugin that makes the Pods' endpoints: `type` of the first plugin or of its delegate.
 * Borrowed; NULL when the configuration names no type. */
const char *cni_config_type(const json_t *config);

/* ---- the inbound firewall rules of a node ---- */

enum { FIREWALL_RULES_MAX = 4 };

/* Fills in the rules of this plan ("winjoin kubelet" TCP 10250, the mode's and that of the
 * DaemonSet's agent) and returns their count. Texts are static. Pure. */
size_t firewall_rules(const struct network_plan *plan,
                      struct host_firewall_rule ret[FIREWALL_RULES_MAX]);
/* Adds the names of all rules of all plans. Pure. */
void firewall_names(struct text_list *ret);

/* The source VIP, which overlay networks need: kube-proxy sends to other nodes with this address.
 * It is reserved in the store of host-local, so that no Pod gets it. Layout: disk backend of
 * host-local in containernetworking/plugins. */

#define SOURCE_VIP_UNKNOWN "<sourceVIP>" /* The value until HNS has chosen the address. */

/* Returns the address of the Pod prefix that host-local must not give to a Pod: the source VIP, or
 * the host's endpoint on a bridge whose CNI plugin ignores host-local's range. NULL when every
 * address is free for Pods. */
const char *source_vip_reserved(const struct network_plan *plan);
/* Reserves the address of source_vip_reserved() as CNI_STATE_DIR\<network>\<address> and removes
 * winjoin's reservations of other addresses (of an earlier Pod prefix). Does nothing without such
 * an address. Fails with ERROR_CONFLICT when another program has reserved it. */
int source_vip_ensure(struct host *host, const struct network_plan *plan, struct error *err);
/* If the agent lets HNS choose the source VIP (its source_vip_endpoint), fills plan->source_vip
 * with the address that is already reserved. Does nothing for another agent, or if no address is
 * reserved. */
int source_vip_recall(struct host *host, struct network_plan *plan, struct error *err);
/* If the agent lets HNS choose the source VIP, ensures it: takes the reserved address, else that of
 * the agent's endpoint on the network. Makes an absent endpoint and attaches it to the host with
 * HNS version 1, as Windows Machine Config Operator does. Error kinds: those of HNS, and
 * ERROR_MALFORMED for an answer without a usable address. */
int source_vip_choose(struct host *host, struct network_plan *plan,
                      const struct hcn_network *network, struct error *err);
/* Removes winjoin's reservations from the store of this network; absent is success. */
int source_vip_remove(struct host *host, const char *network_name, struct error *err);
/* Removes stale reservations of an earlier join: host-local never deletes its store, so these are
 * outside of the plan's Pod prefix. Others stay. */
int ipam_stale_remove(struct host *host, const struct network_plan *plan, struct error *err);

/* ---- networks of other programs on this host that are in conflict with the plan ---- */

/* Looks for networks that are in conflict with the plan, before anything changes. These are a
 * network of another vSwitch mode on the same adapter; one whose subnet overlaps that of Pods,
 * Services or the base network; one with a name from the plan that cannot be the planned network.
 * Fails with ERROR_PREFLIGHT, which names them all, the first with its reason; the hints have the
 * commands that delete them. */
int network_clash_check(struct host *host, const struct network_plan *plan, struct error *err);
/* For an agent that makes the network itself (plan->daemon_set_agent): checks that the Windows
 * service that it needs exists and that no network is in its way. Fails with ERROR_PREFLIGHT. Does
 * nothing without such an agent. */
int daemon_set_network_check(struct host *host, const struct network_plan *plan, struct error *err);
