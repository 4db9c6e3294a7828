/* What phases need to know: found once, when it is first needed. */
#pragma once

#include "host/host.h"
#include "join/join.h"

enum {
    /* Discovery, or on a joined node its own identity: found.client. */
    NEED_CLIENT = 1,
    /* The node's own identity as found.client; the client certificate must be stored. */
    NEED_NODE_CLIENT = 2,
    /* The cluster's configuration, with its defaults in found.options. */
    NEED_CLUSTER = 4,
    /* The Node object with its podCIDR (not waited for). */
    NEED_NODE = 8,
    /* config.yaml as it will be written, patches applied, with the list of changes; warnings are
     * told. */
    NEED_KUBELET_CONFIG = 16,
    /* The network adapter, HNS version and the plan; with the node's podCIDR once the Node is
     * known. */
    NEED_PLAN = 32,
};
/* Finds what is named and not known yet, in this order; nothing is changed on the host but an
 * adapter that a killed run left without its address, which gets it back. */
int join_need(struct join *join, unsigned needs, struct error *err);

/* For join_need() alone, each in the file of its subject; each finds first what it needs itself. */
int find_client(struct join *join, struct error *err);
int find_node_client(struct join *join, struct error *err);
int find_cluster(struct join *join, struct error *err);
int find_node(struct join *join, struct error *err);
int find_kubelet_config(struct join *join, struct error *err);
int find_plan(struct join *join, struct error *err);

/* found.containerd: the one that stands here, or winjoin's own; the pipe of one that another made
 * is options.cri_socket where none was given. Kinds: those of containerd_settings_find(). */
int find_containerd(struct host *host, struct join_found *found, struct error *err);

/* The preflight check by which a mode is refused that cuts a node off (network_mode.isolated), and
 * whose name acknowledges it; find_plan() refuses one that only the cluster's defaults name. */
#define NETWORK_MODE_CHECK "NetworkMode"
#define NETWORK_MODE_HINT                                                                          \
    "choose another --network-mode; for a machine that needs no cluster network: "                 \
    "--ignore-preflight-errors " NETWORK_MODE_CHECK

/* In the place of NEED_CLUSTER, NEED_NODE and NEED_PLAN where no cluster can be asked: the plan,
 * the node's address, the Services' prefixes and DNS as the join wrote them down
 * (CHOSEN_FILE). */
int find_remembered(struct join *join, struct error *err);

/* The prefix of this node's pods: --pod-cidr, else what the Node says, in spec.podCIDR or in the
 * annotation of this agent (NULL: none). Borrowed; NULL: not known. */
const char *found_pod_prefix(const struct join_found *found, const struct network_agent *agent);

/* Does the join wait until the controller manager has given the Node its prefix? */
bool found_waits_for_prefix(const struct join_found *found);

/* A YAML file of this machine with one document. New reference. Kinds: those of host_read(),
 * ERROR_MALFORMED. */
int join_read_yaml(struct host *host, const char *path, json_t **ret, struct error *err);
/* Where the cluster's CA is written (caCertPath); the caller frees. */
char *join_ca_file(const struct join_options *options);
/* A client certificate is stored that the kubelet will take for its own; else err says why not. */
bool join_has_certificate(struct host *host, const struct join_found *found, struct error *why);
/* true when the TLS bootstrap is left to the kubelet and still to be done. */
bool join_kubelet_bootstraps(struct host *host, const struct join_found *found);
/* Of the kubelet's configuration, this run's or the one of an earlier one: where its static pods
 * are, and its health endpoint (NULL when that is switched off). The caller frees. */
char *join_manifest_folder(const struct join *join);
char *join_kubelet_health_url(const struct join *join);

/* ---- what a call asks of the network against what the cluster says of it ---- */

/* Refuses what cannot work before the first thing is changed: another plugin, mode, VNI or port
 * than the cluster's agent, pod prefixes outside the agent's, two kube-proxies; with the agent's
 * own limits. A node that joined with another plugin keeps it. ERROR_USAGE names both sides, with a
 * hint; ERROR_UNSUPPORTED. */
int network_fit_check(const struct cluster_config *cluster, const struct join_options *options,
                      const struct network_input *input, bool joined, struct error *err);
/* ERROR_CONFLICT, with a hint: another Node has this machine's host name, in any case, where the
 * agent tells nodes apart by it, or some of the prefix that the call asks for. Who may not list
 * Nodes is passed over. */
int network_fit_check_nodes(struct join *join, struct error *err);
/* Tells what goes on, but is worth a look. */
void network_fit_warn(struct join *join);

/* ---- a pause before the first request: machines may start together ---- */

/* The longest pause in milliseconds, of which a join waits a random part once: what was given
 * (--start-spread), when that is not negative; else 10 s on a machine that started less than ten
 * minutes ago and has nobody at a terminal, as those of a scale set with their startup script; else
 * none. */
unsigned start_spread_longest_ms(long long given, bool unattended, const struct host_facts *facts);

/* ---- whose name it is in the cluster ---- */

enum node_name_state {
    NODE_NAME_FREE,      /* no Node has it */
    NODE_NAME_NOT_READY, /* one has it that is not Ready: it is taken over, as kubeadm does */
    NODE_NAME_OURS,      /* this machine is that node: kubelet.conf is here */
    NODE_NAME_EARLIER,   /* Ready with an address of this machine, which is no node now: an earlier
                            life, whose kubelet the control plane has not missed yet */
    NODE_NAME_TAKEN,     /* Ready, another machine's */
};
/* Asks for the Node. Kinds: those of kube_node_get but ERROR_ABSENT. */
int node_name_look(struct host *host, struct kube_client *client, const char *name,
                   enum node_name_state *ret, struct error *err);
/* Succeeds when this machine may have the name; waits while it is NODE_NAME_EARLIER (kubeadm
 * refuses; the controller manager misses a kubelet after its node-monitor-grace-period of 40 or
 * 50 s), but not in a dry run. ERROR_CONFLICT when it is taken. */
int node_name_claim(struct join *join, struct error *err);

/* ---- is a pod prefix left for this node? The controller manager cuts the pod subnet into equal
 * parts and gives each Node one; when they are all given away, a new Node waits for ever. ---- */

/* Pure: ERROR_CONFLICT where a pod subnet of the cluster is cut into parts (node_masks) that
 * Nodes other than `own` have all; with who has them and what to do. 0 also where that cannot be
 * told. `nodes`: a NodeList; NULL: not known, and one is that of the control plane. */
int pod_room_check(const struct cluster_config *cluster, const json_t *nodes, const char *own,
                   struct error *err);
/* The same for the cluster as it is now, where its Nodes may be listed with them. */
int pod_room_look(struct join *join, struct error *err);
