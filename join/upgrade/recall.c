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

/* What was never written chose nothing. What is there and cannot be read would be replaced by
 * defaults, without a word. */
static int unless_absent(const struct error *why, struct error *err) {
    if (why->kind == ERROR_ABSENT)
        return 0;
    (void)error_pass(err, why);
    (void)error_prefix(err, "read what the join of this node chose");
    if (why->kind != ERROR_MALFORMED)
        return -1;
    return error_hint(err,
                      "winjoin join, with the flags of the first join, writes that file again");
}

/* Its first address; the other family's follows from the adapter. */
static int recall_node_ip(struct host *host, struct join_options *options, struct error *err) {
    static const char flag[] = "--node-ip=";
    _cleanup_(service_host_settings_free) struct service_host_settings settings = {0};
    struct error why = {0};

    if (options->node_ip)
        return 0;
    if (service_host_settings_load(host, service_kubelet.name, &settings, &why) < 0)
        return unless_absent(&why, err);
    for (size_t i = 0; i < settings.command.count && !options->node_ip; i++) {
        const char *value = settings.command.items[i] + strlen(flag);

        if (text_starts_with(settings.command.items[i], flag))
            options->node_ip = xstrndup(value, strcspn(value, ","));
    }
    return 0;
}

static int recall_kubelet(struct host *host, struct join_options *options, struct error *err) {
    _cleanup_json_ json_t *config = NULL;
    struct error why = {0};

    if (join_read_yaml(host, KUBELET_CONFIG_FILE, &config, &why) < 0)
        return unless_absent(&why, err);
    take(&options->cri_socket, json_text_at(config, "containerRuntimeEndpoint"));
    take(&options->ca_cert_path, json_text_at(config, "authentication.x509.clientCAFile"));
    return 0;
}

static int recall_kube_proxy(struct host *host, struct join_options *options, struct error *err) {
    _cleanup_json_ json_t *config = NULL;
    _cleanup_(host_service_free) struct host_service found = {0};
    struct error why = {0};

    if (host_service_query(host, service_kube_proxy.name, &found, err) < 0)
        return -1;
    if (!service_is_ours(&found))
        take(&options->kube_proxy, "none");
    if (join_read_yaml(host, KUBE_PROXY_CONFIG_PATH, &config, &why) < 0)
        return unless_absent(&why, err);
    take(&options->dsr, json_bool_at(config, "winkernel.enableDSR", false) ? "on" : "off");
    return 0;
}

/* A prefix that the join was given; the Node's own is the same. */
static int recall_prefixes(struct host *host, struct join_options *options, struct error *err) {
    _cleanup_json_ json_t *file = NULL;
    _cleanup_(boot_network_input_free) struct network_input input = {0};
    struct error why = {0};

    if (options->pod_cidrs.count)
        return 0;
    if (boot_network_load(host, &file, &input, &why) < 0)
        return unless_absent(&why, err);
    if (input.pod_cidr)
        text_list_add(&options->pod_cidrs, input.pod_cidr);
    if (input.pod_cidr && input.pod_cidr6)
        text_list_add(&options->pod_cidrs, input.pod_cidr6);
    return 0;
}

int upgrade_recall(struct host *host, struct join_options *options, struct error *err) {
    return recall_node_ip(host, options, err) < 0 || recall_kubelet(host, options, err) < 0 ||
                   recall_kube_proxy(host, options, err) < 0 ||
                   recall_prefixes(host, options, err) < 0
               ? -1
               : 0;
}
