/* What a join must know of its cluster, read from the ConfigMaps that kubeadm and the
 * network's agent leave. */
#pragma once

#include "base/json.h"
#include "kube/client.h"
#include "netsetup/agents/agent.h"

/* Text is owned; cluster_config_free(). */
struct cluster_config {
    char *name;                   /* clusterName, "kubernetes" */
    char *kubernetes_version;     /* "v1.37.1" */
    char *image_repository;       /* imageRepository; NULL = upstream's */
    bool has_endpoint;            /* controlPlaneEndpoint: there may be several API servers */
    char *server_version;         /* of GET /version, where they may differ; NULL = not known */
    struct text_list pod_subnets; /* kubeadm's, else the agent's; may be empty */
    unsigned node_masks[2];       /* length of a Node's pod prefix: of IPv4, of IPv6 */
    bool assigns_pod_prefixes; /* the controller manager gives each Node one, by kubeadm's file */
    struct text_list service_subnets;
    char *dns_domain;              /* "cluster.local" */
    struct text_list cluster_dns;  /* kubelet's clusterDNS, or the tenth service address */
    json_t *kubelet;               /* KubeletConfiguration as in the cluster, before any change */
    struct agent_settings network; /* what the network agent of the cluster says */
    json_t *winjoin;               /* NodeConfiguration of ConfigMap kube-system/winjoin, or NULL */
    char *dns_namespace;           /* of the DNS Service, where it was looked for; or NULL */
    char *searched;                /* there, too: what cluster_network_search() found, or NULL */
    bool unprepared;     /* reading that is forbidden: nothing was granted to Windows nodes */
    bool network_unread; /* some of what network agents say may not be read */
    /* clusterDNS of Linux nodes: another one, or one more, stands in cluster_dns; or NULL */
    char *local_dns;
    struct text_list warnings; /* what was tolerated */
};

/* Reads them with the client's credentials. kubeadm-config (v1beta3, v1beta4) and kubelet-config
 * (or kubelet-config-<major>.<minor>) must be there; winjoin, kube-flannel-cfg (kube-flannel, then
 * kube-system; not asked for where winjoin is forbidden: the rights to both come with the manifest
 * of `winjoin config cluster`) and /version may be absent or refused, but not malformed.
 * known: kubeadm-config where it was had before, which is not asked for then; or NULL.
 * timeout_ms: for each object (kubernetesAPICall; 0 = 1 min). Where one of the first two is absent
 * or refused, the error tells of both and who writes them; ERROR_DENIED gets the hint about the
 * token's groups. ERROR_MALFORMED and ERROR_UNSUPPORTED name ConfigMap, key and, where there is
 * one, line and column. */
int cluster_config_read(struct kube_client *client, unsigned timeout_ms, const json_t *known,
                        struct cluster_config *ret, struct error *err);
/* What to do about a token that may not read them, or may not send a certificate request. */
#define TOKEN_GROUP_HINT                                                                           \
    "the token must belong to the group system:bootstrappers:kubeadm:default-node-token, as "      \
    "tokens made by kubeadm token create do"
#define CLUSTER_CONFIG_PATH "/api/v1/namespaces/kube-system/configmaps/kubeadm-config"
void cluster_config_free(struct cluster_config *config);

/* The pure parts, text in: ClusterConfiguration. `what` names the text in messages.
 * ERROR_MALFORMED (also a known field of another type), ERROR_UNSUPPORTED (an apiVersion that is
 * not v1beta3 or v1beta4). */
int cluster_config_parse(const char *yaml, const char *what, struct cluster_config *ret,
                         struct error *err);
/* The only document of its kind in a ConfigMap's text, as JSON. Judged are its apiVersion and the
 * types of the fields that a join reads, with line and column; what it has beyond is kubeadm's or
 * the kubelet's to judge. *ret is a new reference. ERROR_MALFORMED, ERROR_UNSUPPORTED. */
enum cluster_document { CLUSTER_DOCUMENT, KUBELET_DOCUMENT };
int cluster_document_read(const char *text, const char *what, enum cluster_document wanted,
                          json_t **ret, struct error *err);

/* What an administrator does where winjoin cannot join: "v1.34.1+rke2r1" has an agent of its own
 * for Windows. Static; NULL of any other version, and of NULL. Sources: the release tags of
 * rancher/rke2 and k3s-io/k3s, and the versions that EKS and GKE tell. */
const char *distribution_hint(const char *version);

/* What an administrator does in any other cluster that kubeadm did not make. */
#define NOT_BY_KUBEADM_HINT                                                                        \
    "in a cluster that kubeadm did not make: winjoin config print kubeadm-objects prints what "    \
    "joins need; put in the cluster's values and apply it"

/* Finds the cluster's network agents in any namespace: by one list of all DaemonSets' names, or by
 * a request for each known name where that list may not be read. Where no known name is found, the
 * DaemonSets that write CNI's files on Linux nodes are linux_agent_unknown. *ret_unread is set when
 * some may not be read (403): then only what may be read is known. *ret: agent_settings_free(), on
 * failure, too. ERROR_MALFORMED names the object; ERROR_USAGE: an agent's setting that must be
 * corrected. */
int cluster_network_read(struct kube_client *client, unsigned timeout_ms,
                         struct agent_settings *ret, bool *ret_unread, struct error *err);
/* For whoever may list everything, once: finds what no name tells. Where the cluster says nothing
 * of an agent, *settings gets linux_agent_unknown and by what it is known: the DaemonSets that
 * write CNI's files on Linux nodes, else a Linux node that is Ready without one; both NULL: there
 * is no network yet. Where Nodes show that a known agent's part for Windows nodes is on, *settings
 * gets that agent. Two requests at most, each of them a list (all pages). */
int cluster_network_search(struct kube_client *client, struct agent_settings *settings,
                           struct error *err);

#define CLUSTER_MANIFEST_NETWORK "UnknownNetwork"
#define CLUSTER_MANIFEST_DNS "DNSNamespace"

/* The objects in the order in which they are applied, as an array: ConfigMap kube-system/winjoin
 * with the NodeConfiguration, what cluster_network_search() found of an unknown network (NULL:
 * nothing) and the DNS Service's namespace (NULL: kube-system) under the keys below, and who may
 * read it (bootstrap tokens of kubeadm's default group and nodes); for both the right to read what
 * network agents' DaemonSets and settings say, by name in all namespaces, and to list Services; for
 * kube-proxy and the network agents under the node's identity the bindings of system:nodes. New
 * reference. */
json_t *cluster_manifest_make(const json_t *node_configuration, const char *searched,
                              const char *dns_namespace);
/* The objects as YAML documents. The caller frees. */
char *cluster_manifest_text(const json_t *objects);
