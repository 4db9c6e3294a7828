/* Configuration files of the node's programs containerd and kube-proxy, and paths of flanneld's.
 * Pure; the caller frees it. */
#pragma once

#include "base/error.h"
#include "base/text.h"

#define KUBE_PROXY_CONFIG_PATH "C:\\k\\kube-proxy.conf"
#define KUBE_PROXY_KUBECONFIG_PATH "C:\\k\\kube-proxy.kubeconfig"
#define FLANNELD_KUBECONFIG_PATH "C:\\k\\flanneld.kubeconfig"
#define FLANNEL_NET_CONF_PATH "C:\\etc\\kube-flannel\\net-conf.json"
#define FLANNEL_SUBNET_PATH "C:\\run\\flannel\\subnet.env"

struct containerd_config {
    const char *sandbox_image; /* Sandbox image of every Pod (services/artifacts/catalog.h). */
    /* Major version of containerd: 1 reads configuration version 2, and 2 reads version 3. 0 means
     * unknown and is treated like 2. */
    unsigned major;
    const char *root, *state; /* Folders; NULL means those below C:\ProgramData\containerd. */
    /* Folder of registries; NULL means CONTAINERD_REGISTRIES; "" when there is none. */
    const char *registries;
    struct text_list imports; /* Imports in addition to CONTAINERD_DROP_INS; borrowed. */
};
char *containerd_config_make(const struct containerd_config *config);

struct kube_proxy_config {
    const char *version;      /* kube-proxy's version, e.g. "v1.37.1". */
    const char *kubeconfig;   /* Path of the kubeconfig. */
    const char *node_name;    /* The node's name, written in lower case. */
    const char *node_ip;      /* The node's address, for bindAddress. */
    const char *cluster_cidr; /* Pod prefixes, e.g. "10.244.0.0/16[,v6]". */
    const char *network_name;
    const char *source_vip; /* The source VIP; NULL or "" when the mode has no source VIP. */
    /* The host's HNS endpoint, e.g. "cbr0_ep"; NULL when the mode has no such endpoint. */
    const char *root_endpoint;
    bool needs_source_vip; /* The network is an overlay and needs a source VIP. */
    bool dsr;
};
/* Makes a KubeProxyConfiguration (kubeproxy.config.k8s.io/v1alpha1) as YAML. Fails with ERROR_USAGE
 * when a needed source VIP is missing, the version is not valid, or a value has a control character
 * such as a line break. */
int kube_proxy_config_make(const struct kube_proxy_config *config, char **ret, struct error *err);
