/* Reads what a join must know of its cluster from the ConfigMaps of kubeadm and network agent. */
#pragma once

#include "base/json.h"
#include "kube/client.h"
#include "netsetup/agents/agent.h"

/* Texts are owned; cluster_config_free() frees them. */
struct cluster_config {
    char *name;               /* clusterName; default "kubernetes" */
    char *kubernetes_version; /* kubernetesVersion: "v1.37.1" */
    char *image_repository;   /* imageRepository; NULL means upstream's registry */
    /* controlPlaneEndpoint is set, so there may be several API servers. */
    bool has_endpoint;
    /* Version from GET /version; NULL when unknown, or not asked with one API server. */
    char *server_version;
    /* Pod subnets from kubeadm, else from the network agent; may be empty. */
    struct text_list pod_subnets;
    /* Length of a Node's Pod prefix: [0] IPv4, [1] IPv6. */
    unsigned node_masks[2];
    /* The controller manager gives each Node a Pod prefix, as kubeadm configured it. */
    bool assigns_pod_prefixes;
    struct text_list service_subnets;
    char *dns_domain; /* Cluster domain: "cluster.local" */
    /* The kubelet's clusterDNS, or the tenth address of the Service subnet. */
    struct text_list cluster_dns;
    json_t *kubelet;               /* KubeletConfiguration of the cluster, unchanged */
    struct agent_settings network; /* Settings of the cluster's network agent */
    json_t *winjoin;               /* NodeConfiguration of ConfigMap kube-system/winjoin, or NULL */
    /* Namespace of the DNS Service, where it was searched; or NULL. */
    char *dns_namespace;
    /* Network that cluster_network_search() found, as ConfigMap winjoin says; or NULL. */
    char *searched;
    /* Reading ConfigMap winjoin is forbidden: Windows nodes were granted no rights. */
    bool unprepared;
    /* Some settings of network agents may not be read. */
    bool network_unread;
    /* The clusterDNS of Linux nodes when cluster_dns has another, or one more; or NULL. */
    char *local_dns;
    struct text_list warnings; /* Deviations that were tolerated */
};

/* Reads the cluster's configuration with the client's credentials. kubeadm-config (v1beta3,
 * v1beta4) and kubelet-config (or kubelet-config-<major>.<minor>) must exist. winjoin,
 * kube-flannel-cfg (in namespace kube-flannel, then kube-system) and /version may be absent or
 * refused, but not malformed. kube-flannel-cfg is not requested when winjoin is forbidden: the
 * manifest of `winjoin config cluster` grants the rights to both.
 * `known` is the ConfigMap kubeadm-config when the caller has it already, or NULL. `timeout_ms`
 * limits each request (kubernetesAPICall; 0 means 1 minute).
 * When kubeadm-config or kubelet-config is absent or refused, the error names both and who writes
 * them; ERROR_DENIED gets the hint about the token's groups. ERROR_MALFORMED and ERROR_UNSUPPORTED
 * name the ConfigMap, the key and, if there is one, line and column. */
int cluster_config_read(struct kube_client *client, unsigned timeout_ms, const json_t *known,
                        struct cluster_config *ret, struct error *err);
/* Hint for a token that may not read these ConfigMaps, or may not send a certificate request. */
#define TOKEN_GROUP_HINT                                                                           \
    "the token must belong to the group system:bootstrappers:kubeadm:default-node-token, as "      \
    "tokens made by kubeadm token create do"
#define CLUSTER_CONFIG_PATH "/api/v1/namespaces/kube-system/configmaps/kubeadm-config"
void cluster_config_free(struct cluster_config *config);

/* Parses the text of a ClusterConfiguration, without requests. `what` names the text in messages.
 * Fails with ERROR_MALFORMED (also a known field of another type), ERROR_UNSUPPORTED (an apiVersion
 * that is not v1beta3 or v1beta4). */
int cluster_config_parse(const char *yaml, const char *what, struct cluster_config *ret,
                         struct error *err);
/* Finds the only document of the wanted kind in a ConfigMap's text and returns it as JSON. Only its
 * apiVersion and the types of the fields that a join reads are checked, with line and column; all
 * other fields are for kubeadm or the kubelet to check. *ret is a new reference. Fails with
 * ERROR_MALFORMED, ERROR_UNSUPPORTED. */
enum cluster_document { CLUSTER_DOCUMENT, KUBELET_DOCUMENT };
int cluster_document_read(const char *text, const char *what, enum cluster_document wanted,
                          json_t **ret, struct error *err);

/* Returns what an administrator can do in a cluster that winjoin cannot join, by its version:
 * "v1.34.1+rke2r1" has an agent of its own for Windows. Static; NULL for any other version, and for
 * NULL. Sources: the release tags of rancher/rke2 and k3s-io/k3s, and the versions that EKS and GKE
 * report. */
const char *distribution_hint(const char *version);

/* The hint for a cluster that neither kubeadm nor a known distribution made. */
#define NOT_BY_KUBEADM_HINT                                                                        \
    "in a cluster that kubeadm did not make: winjoin config print kubeadm-objects prints what "    \
    "joins need; put in the cluster's values and apply it"

/* Finds the cluster's network agents in any namespace: with one list of all DaemonSets' names or,
 * when that list is forbidden, with a request for each known name. When no known name is found, the
 * DaemonSets that write CNI files on Linux nodes are reported as linux_agent_unknown. *ret_unread
 * is set when some objects are forbidden (403); then the result has only what could be read. The
 * caller frees *ret with agent_settings_free(), also on failure. Fails with ERROR_MALFORMED, which
 * names the object, or with ERROR_USAGE when an agent's setting must be corrected. */
int cluster_network_read(struct kube_client *client, unsigned timeout_ms,
                         struct agent_settings *ret, bool *ret_unread, struct error *err);
/* Searches once for agents that no known name reveals; the caller must be allowed to list
 * everything. When the cluster shows no known agent, *settings gets linux_agent_unknown and its
 * evidence: the DaemonSets that write CNI files on Linux nodes, else a Linux node that is Ready
 * without them; both are NULL when there is no network yet. When Nodes show that a known agent's
 * part for Windows nodes is on, *settings gets that agent. Makes at most two requests, each of them
 * a list (all pages). */
int cluster_network_search(struct kube_client *client, struct agent_settings *settings,
                           struct error *err);

#define CLUSTER_MANIFEST_NETWORK "UnknownNetwork"
#define CLUSTER_MANIFEST_DNS "DNSNamespace"

/* Returns the objects that `winjoin config cluster` prints, as an array in the order in which they
 * are applied: ConfigMap kube-system/winjoin and who may read it (bootstrap tokens of kubeadm's
 * default group, and nodes); the right of both to list Services and to read the DaemonSets and
 * settings of network agents, by name in all namespaces; and bindings of system:nodes for
 * kube-proxy and for the network agents that use the node's identity.
 * The ConfigMap holds the NodeConfiguration; under key UnknownNetwork `searched`, the network that
 * cluster_network_search() found (NULL means none); and under key DNSNamespace the namespace of the
 * DNS Service (NULL means kube-system). New reference. */
json_t *cluster_manifest_make(const json_t *node_configuration, const char *searched,
                              const char *dns_namespace);
/* Returns the objects as YAML documents. The caller frees it. */
char *cluster_manifest_text(const json_t *objects);
