/* The kubelet's files as kubeadm writes them, fit for Windows. Pure: documents in, texts out. */
#pragma once

#include "join/kubelet/patches.h"

/* Where they lie; '\\' paths with the drive. */
#define KUBELET_FOLDER "C:\\var\\lib\\kubelet"
#define KUBELET_CONFIG_FILE "C:\\var\\lib\\kubelet\\config.yaml"
#define KUBELET_INSTANCE_CONFIG_FILE "C:\\var\\lib\\kubelet\\instance-config.yaml"
#define KUBELET_FLAGS_FILE "C:\\var\\lib\\kubelet\\kubeadm-flags.env"
#define KUBELET_CERTIFICATE_FOLDER "C:\\var\\lib\\kubelet\\pki"
#define KUBELET_CLIENT_CERTIFICATE_FILE "C:\\var\\lib\\kubelet\\pki\\kubelet-client-current.pem"
#define KUBELET_SERVING_CERTIFICATE_FILE "C:\\var\\lib\\kubelet\\pki\\kubelet-server-current.pem"
#define KUBERNETES_FOLDER "C:\\etc\\kubernetes"
#define KUBELET_KUBECONFIG_FILE "C:\\etc\\kubernetes\\kubelet.conf"
#define KUBELET_BOOTSTRAP_KUBECONFIG_FILE "C:\\etc\\kubernetes\\bootstrap-kubelet.conf"
#define KUBERNETES_CA_FILE "C:\\etc\\kubernetes\\pki\\ca.crt"
#define KUBERNETES_MANIFESTS_FOLDER "C:\\etc\\kubernetes\\manifests"
#define KUBELET_CRI_SOCKET "npipe:////./pipe/containerd-containerd"

/* One field that config.yaml has otherwise than the cluster's document. */
struct kubelet_change {
    char *path;   /* "authentication.x509.clientCAFile", "evictionHard[pid.available]" */
    json_t *from; /* NULL: added */
    json_t *to;   /* NULL: removed */
    char *reason;
};
/* In the order in which they were made; kubelet_changes_free(). */
struct kubelet_changes {
    struct kubelet_change *items;
    size_t count;
    struct text_list warnings; /* what an operator should look at; nothing was changed for it */
};
void kubelet_changes_free(struct kubelet_changes *changes);
/* from and to are borrowed, NULL = absent. */
void kubelet_changes_add(struct kubelet_changes *changes, const char *path, const json_t *from,
                         const json_t *to, const char *reason);
/* Adds one change for each field in which the documents differ (lists are compared whole). `parent`
 * is where both stand: "" for whole documents. */
void kubelet_changes_compare(struct kubelet_changes *changes, const char *parent,
                             const json_t *before, const json_t *after, const char *reason);
/* [{path, from, to, reason}], from or to absent. New reference. */
json_t *kubelet_changes_json(const struct kubelet_changes *changes);

/* What kubelet_config_make needs to know about this node. */
struct kubelet_config_input {
    const json_t *cluster;               /* KubeletConfiguration of the cluster */
    const struct text_list *cluster_dns; /* used where the document has no clusterDNS */
    const char *local_dns;               /* in its place, where the document has this; or NULL */
    const char *dns_domain;              /* likewise clusterDomain */
    const char *cri_socket;              /* NULL = KUBELET_CRI_SOCKET */
    const char *ca_file;                 /* NULL = KUBERNETES_CA_FILE */
    const char *drive;                   /* "C:"; NULL = "C:" */
    const struct patches *patches;       /* --patches; NULL = none */
};
/* The cluster's KubeletConfiguration made fit for this Windows node: kubeadm's defaults for absent
 * fields, paths with drive, cgroups off, Linux-only fields removed; then the patches, whose word is
 * kept; then the CRI socket, which is the node's own. Unknown fields stay. Each change is recorded.
 * *ret is a new reference; on failure `changes` is left for kubelet_changes_free(). ERROR_MALFORMED
 * when it is not a KubeletConfiguration v1beta1, ERROR_USAGE of a patch. */
int kubelet_config_make(const struct kubelet_config_input *input, json_t **ret,
                        struct kubelet_changes *changes, struct error *err);

/* What goes into kubeadm-flags.env on this node: base arguments (hostname-override when the name is
 * not the host's, register-with-taints; container-runtime-endpoint before 1.34), sorted, then the
 * user's in given order; a user's argument replaces the base's of its name. Before 1.36 all are
 * sorted by name and value. */
struct kubelet_flags_input {
    const char *version; /* the kubelet's, "v1.37.1": kubeadm's of that version is followed */
    const char *node_name;
    const char *host_name;         /* as the system spells it */
    const char *taints;            /* "k=v:NoSchedule,..." or NULL */
    const char *node_ip;           /* or NULL */
    const char *node_labels;       /* "a=b,c=d" or NULL */
    const char *cri_socket;        /* NULL = KUBELET_CRI_SOCKET */
    const struct text_list *extra; /* kubeletExtraArgs, "name=value"; NULL = none */
};
/* KUBELET_KUBEADM_ARGS="--node-ip=10.0.0.21 ..." with Go's %q quoting, and LF; the caller frees. */
char *kubelet_flags_text(const struct kubelet_flags_input *input);
/* instance-config.yaml: containerRuntimeEndpoint (NULL = KUBELET_CRI_SOCKET); the caller frees.
 * NULL where kubeadm of this version writes no such file (NodeLocalCRISocket: since 1.34). */
char *kubelet_instance_config_text(const char *version, const char *cri_socket);
