/* The kubelet's files as kubeadm writes them, adapted to Windows. These functions only make texts
 * and documents; they write no files. */
#pragma once

#include "join/kubelet/patches.h"

/* Paths of the files, with drive and backslashes. */
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

/* A field of config.yaml that differs from the cluster's document. */
struct kubelet_change {
    char *path;   /* Path of the field: "evictionHard[pid.available]" */
    json_t *from; /* Value in the cluster's document; NULL when the field was added */
    json_t *to;   /* Value in config.yaml; NULL when the field was removed */
    char *reason;
};
/* Changes in the order in which they were made; kubelet_changes_free(). */
struct kubelet_changes {
    struct kubelet_change *items;
    size_t count;
    struct text_list warnings; /* What the user should check; these values were not changed */
};
void kubelet_changes_free(struct kubelet_changes *changes);
/* Adds a change. `from` and `to` are borrowed; NULL when absent. */
void kubelet_changes_add(struct kubelet_changes *changes, const char *path, const json_t *from,
                         const json_t *to, const char *reason);
/* Adds one change for each field in which the documents differ; lists are compared as a whole.
 * `parent` is the path of both documents: "" when they are whole documents. */
void kubelet_changes_compare(struct kubelet_changes *changes, const char *parent,
                             const json_t *before, const json_t *after, const char *reason);
/* Returns [{path, from, to, reason}]; a NULL `from` or `to` is left out. New reference. */
json_t *kubelet_changes_json(const struct kubelet_changes *changes);

/* What kubelet_config_make() needs to know about this node. */
struct kubelet_config_input {
    const json_t *cluster;               /* KubeletConfiguration of the cluster */
    const struct text_list *cluster_dns; /* Used when the document has no clusterDNS */
    /* A clusterDNS that cluster_dns replaces, when the document has it; or NULL. */
    const char *local_dns;
    const char *dns_domain;        /* Used when the document has no clusterDomain */
    const char *cri_socket;        /* Socket of containerd; NULL means KUBELET_CRI_SOCKET */
    const char *ca_file;           /* File of the cluster's CA; NULL means KUBERNETES_CA_FILE */
    const char *drive;             /* Drive for paths without one; NULL means "C:" */
    const struct patches *patches; /* Patches from --patches; NULL without patches */
};
/* Adapts the cluster's KubeletConfiguration to this Windows node. Fills absent fields with
 * kubeadm's defaults, adds the drive to paths, turns cgroups off, and removes fields for Linux.
 * Then applies the patches, which have the last word, except for the CRI socket, which is the
 * node's own. Unknown fields stay. Records each change. *ret is a new reference; on failure the
 * caller still frees `changes` with kubelet_changes_free(). Fails with ERROR_MALFORMED when the
 * document is no KubeletConfiguration v1beta1; ERROR_USAGE for a wrong patch. */
int kubelet_config_make(const struct kubelet_config_input *input, json_t **ret,
                        struct kubelet_changes *changes, struct error *err);

/* Input for kubeadm-flags.env of this node. The arguments are first kubeadm's own, sorted
 * (hostname-override when the node's name is not the host's, register-with-taints, and before 1.34
 * container-runtime-endpoint), then the user's in their order. A user's argument replaces kubeadm's
 * of the same name. Before 1.36 all are sorted by name and value. */
struct kubelet_flags_input {
    /* Version of the kubelet, "v1.37.1"; kubeadm of the same version is followed */
    const char *version;
    const char *node_name;
    const char *host_name;         /* Host name as the system spells it */
    const char *taints;            /* Taints "k=v:NoSchedule,...", or NULL */
    const char *node_ip;           /* Address of the node, or NULL */
    const char *node_labels;       /* Labels "a=b,c=d", or NULL */
    const char *cri_socket;        /* Socket of containerd; NULL means KUBELET_CRI_SOCKET */
    const struct text_list *extra; /* kubeletExtraArgs, "name=value"; NULL when not given */
};
/* Returns KUBELET_KUBEADM_ARGS="--node-ip=10.0.0.21 ..." with quotes as by Go's %q and a line feed.
 * The caller frees it. */
char *kubelet_flags_text(const struct kubelet_flags_input *input);
/* Returns the text of instance-config.yaml with containerRuntimeEndpoint (NULL means
 * KUBELET_CRI_SOCKET), or NULL when kubeadm of this version writes no such file
 * (NodeLocalCRISocket: since 1.34). The caller frees it. */
char *kubelet_instance_config_text(const char *version, const char *cri_socket);
