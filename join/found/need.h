/* Finds what phases need to know. Each fact is found once, when a phase first needs it. */
#pragma once

#include "host/host.h"
#include "join/join.h"

enum {
    /* The client in found.client, from discovery, or on a joined node with its own identity. */
    NEED_CLIENT = 1,
    /* The client in found.client with the node's own identity; its certificate must be stored. */
    NEED_NODE_CLIENT = 2,
    /* The cluster's configuration; its defaults for winjoin are added to found.options. */
    NEED_CLUSTER = 4,
    /* The Node object with its podCIDR, as it is now; nothing is waited for. */
    NEED_NODE = 8,
    /* The kubelet's config.yaml as it will be written, with patches, and the list of changes.
     * Warnings are shown. */
    NEED_KUBELET_CONFIG = 16,
    /* The network adapter, the version of HNS and the plan of the network, with the node's podCIDR
     * once the Node is known. */
    NEED_PLAN = 32,
};
/* Finds what `needs` names and is not known yet, in the order above. The host is not changed, with
 * one exception: an adapter that a killed run left without its address gets it back. */
int join_need(struct join *join, unsigned needs, struct error *err);

/* Functions for join_need() only, each in the file of its subject. Each first finds its needs. */
int find_client(struct join *join, struct error *err);
int find_node_client(struct join *join, struct error *err);
int find_cluster(struct join *join, struct error *err);
int find_node(struct join *join, struct error *err);
int find_kubelet_config(struct join *join, struct error *err);
int find_plan(struct join *join, struct error *err);

/* Makes found.options and join->kept, first of all: the options of the command and those of the
 * node's join (join_option.kept). A phase alone and an upgrade take each option that the command
 * does not give; an upgrade also takes what the join chose, from node/chosen.h. A whole join takes
 * all or none of the last join that was completed, and sets join->keeps_options. Fails with the
 * error of a file that cannot be read, and a hint. */
int find_options(struct join *join, struct error *err);
/* Reads found.patches after find_options(), from --patches or from join->kept. Fails as
 * patches_read(). */
int find_patches(struct join *join, struct error *err);
/* Sets err to `why`, the reason why a file that a join wrote cannot be read, and returns -1,
 * because with defaults in place of the file the node would change silently. `what` names the file.
 * A damaged file (ERROR_MALFORMED) gets a hint. */
int error_damaged(const char *what, const struct error *why, struct error *err);

/* Finds the containerd of this node and stores its settings in found.containerd: the one that
 * exists, or winjoin's own. When it is not winjoin's and the user gave no socket,
 * options.cri_socket is set to its pipe. Fails as containerd_settings_find(). */
int find_containerd(struct host *host, struct join_found *found, struct error *err);

/* Id of the preflight check that refuses a network mode without connections to other nodes
 * (network_mode.isolated). Users accept such a mode by ignoring the check. find_plan() refuses the
 * mode, too, because it can come from the cluster's defaults. */
#define NETWORK_MODE_CHECK "NetworkMode"
#define NETWORK_MODE_HINT                                                                          \
    "choose another --network-mode; for a machine that needs no cluster network: "                 \
    "--ignore-preflight-errors " NETWORK_MODE_CHECK

/* Reads from CHOSEN_FILE what the join recorded about the network: the plan, the node's address,
 * the Services' prefixes and DNS. This replaces NEED_CLUSTER, NEED_NODE and NEED_PLAN when no
 * cluster can be asked. */
int find_remembered(struct join *join, struct error *err);

/* Returns the prefix of this node's Pods: --pod-cidr, else what the Node says, in spec.podCIDR or
 * in the annotation of this agent (NULL means no agent). Borrowed; NULL when unknown. */
const char *found_pod_prefix(const struct join_found *found, const struct network_agent *agent);

/* Returns true when the join must wait for the controller manager to give the Node its prefix. */
bool found_waits_for_prefix(const struct join_found *found);

/* Reads a YAML file of this machine with one document. *ret is a new reference. Fails as
 * host_read(), or with ERROR_MALFORMED. */
int join_read_yaml(struct host *host, const char *path, json_t **ret, struct error *err);
/* Returns the path to which the cluster's CA is written (caCertPath). The caller frees it. */
char *join_ca_file(const struct join_options *options);
/* Returns true when a client certificate is stored that the kubelet will use; otherwise `why` says
 * what is wrong. */
bool join_has_certificate(struct host *host, const struct join_found *found, struct error *why);
/* Returns true when the TLS bootstrap is left to the kubelet and not done yet. */
bool join_kubelet_bootstraps(struct host *host, const struct join_found *found);
/* Returns the folder of static Pods, and the URL of the kubelet's health endpoint (NULL when that
 * is off), from the kubelet's configuration of this run or of an earlier one. The caller frees
 * it. */
char *join_manifest_folder(const struct join *join);
char *join_kubelet_health_url(const struct join *join);

/* ---- comparison of the network options with the cluster's network ---- */

/* Refuses options that cannot work with the cluster, before anything is changed: another plugin,
 * mode, VNI or port than the cluster's agent has, Pod prefixes outside of the agent's, two
 * kube-proxies, and what the agent itself does not support. A node that joined with another plugin
 * keeps it. Fails with ERROR_USAGE, which names both values, and a hint, or with
 * ERROR_UNSUPPORTED. */
int network_fit_check(const struct cluster_config *cluster, const struct join_options *options,
                      const struct network_input *input, bool joined, struct error *err);
/* Refuses (ERROR_CONFLICT, with a hint) when another Node has this machine's host name, in any
 * case, and the agent identifies nodes by it; or when another Node's prefix overlaps --pod-cidr.
 * Without the right to list Nodes nothing is checked. */
int network_fit_check_nodes(struct join *join, struct error *err);
/* Warns of network settings with which the join can continue, but which the user should check. */
void network_fit_warn(struct join *join);

/* ---- a random pause before the first request, for machines that start together ---- */

/* Returns the longest pause in milliseconds; a join waits once for a random part of it. A value of
 * --start-spread (`given`) that is not negative decides. Else the pause is 10 s on a machine that
 * started less than ten minutes ago and runs unattended, as in a scale set with a startup script;
 * else 0. */
unsigned start_spread_longest_ms(long long given, bool unattended, const struct host_facts *facts);

/* ---- the owner of a node name in the cluster ---- */

enum node_name_state {
    NODE_NAME_FREE, /* No Node has the name */
    /* A Node has the name and is not Ready: the join takes it over, as kubeadm does. */
    NODE_NAME_NOT_READY,
    NODE_NAME_OURS, /* This machine is that Node: kubelet.conf exists here */
    /* The Node is Ready with an address of this machine, which has not joined now. It is from an
     * earlier join; the control plane has not noticed yet that its kubelet is gone. */
    NODE_NAME_EARLIER,
    NODE_NAME_TAKEN, /* The Node is Ready and is another machine */
};
/* Requests the Node and says who has the name. Fails as kube_node_get(), but not with
 * ERROR_ABSENT. */
int node_name_owner(struct host *host, struct kube_client *client, const char *name,
                    enum node_name_state *ret, struct error *err);
/* Succeeds when this machine may have the name. Fails with ERROR_CONFLICT when another machine has
 * it. Waits while the state is NODE_NAME_EARLIER, but not in a dry run: the controller manager
 * marks the Node not Ready after its node-monitor-grace-period of 40 or 50 s. kubeadm refuses at
 * once. */
int node_name_claim(struct join *join, struct error *err);

/* ---- the check that a Pod prefix is left for this node. The controller manager divides the Pod
 * subnet into equal parts and gives each Node one. When all are assigned, a new Node waits forever.
 * ---- */

/* Checks whether each Pod subnet has a free part (node_masks), without requests. Fails with
 * ERROR_CONFLICT when Nodes other than `own` have all parts; the error names Nodes and says what to
 * do. Returns 0 also when this cannot be known. `nodes` is a NodeList; when it is NULL, one part is
 * counted for the control plane. */
int pod_room_check(const struct cluster_config *cluster, const json_t *nodes, const char *own,
                   struct error *err);
/* Calls pod_room_check() with the current Nodes of the cluster, if they may be listed. */
int pod_room_check_cluster(struct join *join, struct error *err);
