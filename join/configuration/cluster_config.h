/* What a join must know of its cluster, read from the ConfigMaps that kubeadm and the
 * network's agent leave. */
#pragma once

#include "kube/client.h"
#include "netsetup/agents/agent.h"

/* Text is owned; cluster_config_free(). */
struct cluster_config {
    char *name;                   /* clusterName, "kubernetes" */
    char *kubernetes_version;     /* "v1.37.1" */
    char *image_repository;       /* imageRepository; NULL = upstream's */
    char *server_version;         /* of GET /version; NULL = not known */
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
    bool unprepared;           /* reading that is forbidden: nothing was granted to Windows nodes */
    bool network_unread;       /* some of what network agents say may not be read */
    char *local_dns;           /* clusterDNS of Linux nodes: another one, or one more, stands in
                                * cluster_dns; or NULL */
    struct text_list warnings; /* what was tolerated */
};

/* Reads them with the client's credentials. kubeadm-config (v1beta3, v1beta4) and kubelet-config
 * (or kubelet-config-<major>.<minor>) must be there; winjoin, kube-flannel-cfg (kube-flannel, then
 * kube-system; not asked for where winjoin is forbidden: the rights to both come with the manifest
 * of `winjoin config cluster`) and /version may be absent or refused, but not malformed.
 * timeout_ms: for each object (kubernetesAPICall; 0 = 1 min). Where one of the first two is absent
 * or refused, the error tells of both and who writes them; ERROR_DENIED gets the hint about the
 * token's groups. ERROR_MALFORMED and ERROR_UNSUPPORTED name ConfigMap, key and, where there is
 * one, line and column. */
int cluster_config_read(struct kube_client *client, unsigned timeout_ms, struct cluster_config *ret,
                        struct error *err);
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
