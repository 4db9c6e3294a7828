/* What gives a field of the configuration on the command line: errors name what was typed. */
#include "join/configuration/flag_names.h"

#include "base/memory.h"

static const struct {
    const char *path, *name;
} rows[] = {
    /* JoinConfiguration */
    {"discovery", "endpoint and --discovery-file"},
    {"discovery.bootstrapToken.apiServerEndpoint", "endpoint"},
    {"discovery.bootstrapToken.token", "--token"},
    {"discovery.bootstrapToken.caCertHashes", "--discovery-token-ca-cert-hash"},
    {"discovery.file.kubeConfigPath", "--discovery-file"},
    {"discovery.tlsBootstrapToken", "--tls-bootstrap-token"},
    {"nodeRegistration.name", "--node-name"},
    {"nodeRegistration.criSocket", "--cri-socket"},
    /* NodeConfiguration */
    {"network.mode", "--network-mode"},
    {"network.plugin", "--network-plugin"},
    {"network.name", "--network-name"},
    {"network.adapter", "--adapter"},
    {"network.vni", "--vni"},
    {"network.vxlanPort", "--vxlan-port"},
    {"network.podCIDRs", "--pod-cidr"},
    {"network.routes", "--routes"},
    {"kubeProxy.run", "--kube-proxy"},
    {"kubeProxy.dsr", "--dsr"},
    {"artifacts.kubernetesVersion", "--kubernetes-version"},
    {"artifacts.bundle", "--bundle"},
    {"artifacts.mirror", "--mirror"},
    {"artifacts.sourceBase", "--source-base"},
    {"artifacts.catalog", "--catalog"},
    {"verify.level", "--verify"},
    {"verify.external.ip", "--external-ip"},
    {"verify.external.name", "--external-name"},
    {"verify.external.dns", "--external-dns"},
};

const char *flag_name(const char *path) {
    size_t len = strcspn(path, "[");

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        if (strlen(rows[i].path) == len && strncmp(rows[i].path, path, len) == 0)
            return rows[i].name;
    return path;
}
