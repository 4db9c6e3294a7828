/* Makes the text of files for containerd and kube-proxy. */
#include "services/runtime_files.h"

#include "base/yaml.h"
#include "services/containerd_settings.h"
#include "services/version.h"
#include "templates/templates.h"

enum { GATES_GA = 34 };

/* Quotes a text as JSON, which is valid TOML, too; free() it. */
static char *quoted(const char *text) {
    _cleanup_json_ json_t *json = json_string(text);
    return json_write(json);
}

char *containerd_config_make(const struct containerd_config *config) {
    _cleanup_(freep) char *root = quoted(config->root ? config->root : CONTAINERD_DATA "\\root");
    _cleanup_(freep) char *state =
        quoted(config->state ? config->state : CONTAINERD_DATA "\\state");
    _cleanup_(freep) char *image = quoted(config->sandbox_image);
    _cleanup_(freep) char *registries =
        quoted(config->registries ? config->registries : CONTAINERD_REGISTRIES);
    _cleanup_json_ json_t *list = json_pack("[s]", CONTAINERD_DROP_INS);
    _cleanup_(freep) char *imports = NULL;
    const struct template *template;

    for (size_t i = 0; i < config->imports.count; i++)
        if (!text_equal_nocase(config->imports.items[i], CONTAINERD_DROP_INS))
            json_array_append_new(list, json_string(config->imports.items[i]));
    imports = json_write(list);

    const struct text_value values[] = {
        {"IMPORTS", imports},
        {"ROOT", root},
        {"STATE", state},
        {"SANDBOX_IMAGE", image},
        {"REGISTRIES", registries},
        {"CNI_BIN_DIR", CNI_BIN_DIR},
        {"CNI_CONF_DIR", CNI_CONF_DIR},
        {NULL, NULL},
    };
    template = template_find(config->major == 1 ? "containerd-v2.toml" : "containerd-v3.toml");
    return text_fill(template->data, '@', '@', values);
}

int kube_proxy_config_make(const struct kube_proxy_config *config, char **ret, struct error *err) {
    const char *const lines[][2] = {{config->kubeconfig, "kubeconfig path"},
                                    {config->node_name, "node name"},
                                    {config->network_name, "network name"},
                                    {config->cluster_cidr, "cluster prefix"}};
    _cleanup_(freep) char *node = NULL;
    _cleanup_json_ json_t *json = NULL;
    json_t *winkernel, *gates;
    unsigned minor = 0;

    if (kubernetes_minor(config->version, "kube-proxy", &minor, err) < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
        for (const char *p = lines[i][0] ? lines[i][0] : ""; *p; p++)
            if ((unsigned char)*p < 0x20 || *p == 0x7f)
                return error_set(err, ERROR_USAGE, "%s contains a control character", lines[i][1]);
    if (config->needs_source_vip && (!config->source_vip || !*config->source_vip))
        return error_set(err, ERROR_USAGE,
                         "configure kube-proxy: an overlay network needs the source VIP");

    node = text_lower(config->node_name ? config->node_name : "");
    json = json_pack(
        "{s:s,s:s,s:s,s:{s:s},s:b}", "apiVersion", "kubeproxy.config.k8s.io/v1alpha1", "kind",
        "KubeProxyConfiguration", "mode", "kernelspace", "clientConnection", "kubeconfig",
        config->kubeconfig ? config->kubeconfig : KUBE_PROXY_KUBECONFIG_PATH, "enableProfiling", 0);
    winkernel = json_pack("{s:b}", "enableDSR", config->dsr);
    json_set_text(winkernel, "networkName", config->network_name);
    json_set_text(winkernel, "sourceVip", config->source_vip);
    json_set_text(winkernel, "rootHnsEndpointName", config->root_endpoint);
    json_object_set_new(json, "winkernel", winkernel);
    json_set_text(json, "hostnameOverride", node);
    json_set_text(json, "bindAddress", config->node_ip);
    json_set_text(json, "clusterCIDR", config->cluster_cidr);

    /* The gates exist since 1.20 and 1.14. Since 1.34 they are locked to true: setting them has no
     * effect, and a later version will refuse them. */
    if (minor < GATES_GA && (config->needs_source_vip || config->dsr)) {
        gates = json_object_in(json, "featureGates");
        if (config->needs_source_vip)
            json_object_set_new(gates, "WinOverlay", json_true());
        if (config->dsr)
            json_object_set_new(gates, "WinDSR", json_true());
    }
    *ret = yaml_write(json);
    return 0;
}
