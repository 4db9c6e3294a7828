/* What of the pod network stands on the node beside HNS: the CNI configuration, the firewall's
 * rules, the source VIP; and the networks of others that are in its way. */
#pragma once

#include "host/host.h"
#include "netsetup/hns/hcn_network.h"
#include "netsetup/plan/network_plan.h"
#include "services/containerd_settings.h"

/* ---- the CNI configuration of containerd; its content is the plugin's (netsetup/plugins) ---- */

#define CNI_STATE_DIR "C:\\var\\lib\\cni\\networks"
#define CNI_RESULTS_DIR "C:\\var\\lib\\cni\\results" /* libcni's, inside containerd */

/* Where the plan's CNI file goes: 10-winjoin.conf, or .conflist for a plugin that has a list. The
 * caller frees. */
char *cni_config_path(const struct network_plan *plan);

/* The configuration as the plan's CNI plugin reads it: exceptions from NAT, routes for Services,
 * loopback DSR as the plan says, addresses such that .1 and .2 never reach a pod. Pure; new
 * reference. With an unknown pod prefix its values are "<podCIDR>". */
json_t *cni_config_json(const struct network_plan *plan);

/* Files in the folder that containerd would take before ours (lower-sorting *.conf, *.conflist,
 * *.json): full paths. The caller sets them aside and records it. */
int cni_conflicts(struct host *host, const char *folder, struct text_list *ret, struct error *err);

/* The configuration that containerd takes from the folder: the first file by name. *ret_path: its
 * full path; *ret: new reference. Kinds: ERROR_ABSENT (no folder, no configuration in it),
 * ERROR_MALFORMED (no JSON, no name, no type), those of host_read(). Nothing is set on failure. */
int cni_config_read(struct host *host, const char *folder, char **ret_path, json_t **ret,
                    struct error *err);
/* The plugin that makes the pods' endpoints: `type` of the first plugin, or of what that delegates
 * to. Borrowed; NULL: it names none. */
const char *cni_config_type(const json_t *config);

/* ---- the inbound rules that a node needs, in one table ---- */

enum { FIREWALL_RULES_MAX = 4 };

/* The rules of this plan ("winjoin kubelet" TCP 10250, and its mode's). Texts are static. Answers
 * how many. Pure. */
size_t firewall_rules(const struct network_plan *plan,
                      struct host_firewall_rule ret[FIREWALL_RULES_MAX]);
/* Adds the names of all rules that any plan has. Pure. */
void firewall_names(struct text_list *ret);

/* The source VIP, which an overlay needs: the address behind which kube-proxy sends to other nodes,
 * reserved in host-local's own store so that no pod gets it. Layout: containernetworking/plugins
 * host-local's disk backend. */

#define SOURCE_VIP_UNKNOWN "<sourceVIP>" /* until HNS has chosen it */

/* The address of the pod prefix that host-local must be kept from by a reservation: the source VIP,
 * or the host's endpoint on a bridge whose CNI plugin drops host-local's range. NULL: none. */
const char *source_vip_reserved(const struct network_plan *plan);
/* Reserves that address (none: nothing to do) under CNI_STATE_DIR\<network>\<address>, and takes
 * back reservations of ours for other addresses (an earlier pod prefix). Held by somebody else:
 * ERROR_CONFLICT. */
int source_vip_ensure(struct host *host, const struct network_plan *plan, struct error *err);
/* With an agent that lets HNS choose the address (its source_vip_endpoint), fills plan->source_vip
 * with the address that is reserved already. With another agent, or while no address is reserved,
 * it does nothing. */
int source_vip_recall(struct host *host, struct network_plan *plan, struct error *err);
/* With such an agent, makes the address stand: the one that is reserved, else that of the agent's
 * endpoint on the network. Where that endpoint is absent it is made, and attached to the host, by
 * HNS version 1, as Windows Machine Config Operator does. Kinds: those of HNS, ERROR_MALFORMED for
 * an answer without a usable address. */
int source_vip_choose(struct host *host, struct network_plan *plan,
                      const struct hcn_network *network, struct error *err);
/* Gives back what is ours in this network's store; absent is success. */
int source_vip_remove(struct host *host, const char *network_name, struct error *err);
/* host-local keeps the store for ever: one whose reservations lie outside the plan's pod prefix is
 * stale (an earlier join). Removes exactly those. */
int ipam_stale_remove(struct host *host, const struct network_plan *plan, struct error *err);

/* ---- other people's networks on this host, against the plan ---- */

/* Looks for networks that stand in the plan's way, before anything is touched: one of another
 * vSwitch mode on the same adapter, one whose subnet overlaps the pods', the services' or the base
 * network's, one that has the name of one of the plan's and cannot be that one. ERROR_PREFLIGHT
 * names them all, the first with its reason; the hints have the commands that delete them. */
int network_clash_check(struct host *host, const struct network_plan *plan, struct error *err);
/* What the cluster's agent that makes the network (plan->external) does without on this machine: a
 * service of Windows; or a network that is in its way. ERROR_PREFLIGHT names it. Without
 * such an agent there is nothing to ask. */
int network_external_check(struct host *host, const struct network_plan *plan, struct error *err);
