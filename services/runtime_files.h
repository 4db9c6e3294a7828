/* Files that the node's programs read: containerd, kube-proxy, flanneld. Pure; the caller frees. */
#pragma once

#include "base/error.h"
#include "base/text.h"

#define KUBE_PROXY_CONFIG_PATH "C:\\k\\kube-proxy.conf"
#define KUBE_PROXY_KUBECONFIG_PATH "C:\\k\\kube-proxy.kubeconfig"
#define FLANNELD_KUBECONFIG_PATH "C:\\k\\flanneld.kubeconfig"
#define FLANNEL_NET_CONF_PATH "C:\\etc\\kube-flannel\\net-conf.json"
#define FLANNEL_SUBNET_PATH "C:\\run\\flannel\\subnet.env"

struct containerd_config {
    const char *sandbox_image; /* of every pod (services/artifacts/catalog.h) */
    unsigned major;            /* containerd 1: config version 2; 2: version 3 (0 = 2) */
    const char *root, *state;  /* NULL: below C:\ProgramData\containerd */
    const char *registries;    /* NULL: CONTAINERD_REGISTRIES; "": none */
    struct text_list imports;  /* besides CONTAINERD_DROP_INS; borrowed */
};
char *containerd_config_make(const struct containerd_config *config);

struct kube_proxy_config {
    const char *version;      /* "v1.37.1": which feature gates it knows */
    const char *kubeconfig;   /* path */
    const char *node_name;    /* lower-cased */
    const char *node_ip;      /* bindAddress */
    const char *cluster_cidr; /* "10.244.0.0/16[,v6]" */
    const char *network_name;
    const char *source_vip;    /* NULL or "": none */
    const char *root_endpoint; /* "cbr0_ep"; NULL = none */
    bool needs_source_vip;     /* an overlay network */
    bool dsr;
};
/* KubeProxyConfiguration (kubeproxy.config.k8s.io/v1alpha1), YAML. Without the source VIP that it
 * needs, an unreadable version, or a value with a line break: ERROR_USAGE. */
int kube_proxy_config_make(const struct kube_proxy_config *config, char **ret, struct error *err);
