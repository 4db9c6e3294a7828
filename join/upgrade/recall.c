/* What the join of this node chose, as the machine still says it. */
#include "join/found/need.h"
#include "join/kubelet/kubelet_files.h"
#include "join/upgrade/upgrade.h"
#include "netsetup/boot_network.h"
#include "services/runtime_files.h"
#include "services/service_host.h"
#include "services/service_table.h"

static void take(char **option, const char *value) {
    if (!*option && value && *value)
        *option = xstrdup(value);
}

/* Its first address; the other family's follows from the adapter. */
static void recall_node_ip(struct host *host, struct join_options *options) {
    static const char flag[] = "--node-ip=";
    _cleanup_(service_host_settings_free) struct service_host_settings settings = {0};

    if (service_host_settings_load(host, service_kubelet.name, &settings, NULL) < 0)
        return;
    for (size_t i = 0; i < settings.command.count && !options->node_ip; i++) {
        const char *value = settings.command.items[i] + strlen(flag);

        if (text_starts_with(settings.command.items[i], flag))
            options->node_ip = xstrndup(value, strcspn(value, ","));
    }
}

static void recall_kubelet(struct host *host, struct join_options *options) {
    _cleanup_json_ json_t *config = join_read_yaml(host, KUBELET_CONFIG_FILE);

    take(&options->cri_socket, json_text_at(config, "containerRuntimeEndpoint"));
    take(&options->ca_cert_path, json_text_at(config, "authentication.x509.clientCAFile"));
}

static void recall_kube_proxy(struct host *host, struct join_options *options) {
    _cleanup_json_ json_t *config = join_read_yaml(host, KUBE_PROXY_CONFIG_PATH);
    _cleanup_(host_service_free) struct host_service found = {0};

    if (host_service_query(host, service_kube_proxy.name, &found, NULL) == 0 &&
        !service_is_ours(&found))
        take(&options->kube_proxy, "none");
    if (config)
        take(&options->dsr, json_bool_at(config, "winkernel.enableDSR", false) ? "on" : "off");
}

/* A prefix that the join was given; the Node's own is the same. */
static void recall_prefixes(struct host *host, struct join_options *options) {
    _cleanup_json_ json_t *file = NULL;
    _cleanup_(boot_network_input_free) struct network_input input = {0};

    if (options->pod_cidrs.count || boot_network_load(host, &file, &input, NULL) < 0)
        return;
    if (input.pod_cidr)
        text_list_add(&options->pod_cidrs, input.pod_cidr);
    if (input.pod_cidr && input.pod_cidr6)
        text_list_add(&options->pod_cidrs, input.pod_cidr6);
}

void upgrade_recall(struct host *host, struct join_options *options) {
    recall_node_ip(host, options);
    recall_kubelet(host, options);
    recall_kube_proxy(host, options);
    recall_prefixes(host, options);
}
