/* What the kube-proxy stand-in is told. */
#include "tests/standins/kube-proxy/config.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/yaml.h"

#include <stdlib.h>
#include <string.h>

enum { CONFIG_MAX = 1024 * 1024 };

static int read_config(struct host *host, const char *path, json_t **ret, struct error *err) {
    _cleanup_(freep) char *text = NULL;
    _cleanup_(yaml_forget) struct yaml yaml = {0};
    size_t len;

    if (host_read(host, path, CONFIG_MAX, &text, &len, err) ||
        yaml_read(text, len, path, &yaml, err))
        return -1;
    if (!text_equal(json_text_at(yaml.documents, "0.kind"), "KubeProxyConfiguration"))
        return error_set(err, ERROR_MALFORMED, "%s is not a KubeProxyConfiguration", path);
    *ret = json_incref(json_array_get(yaml.documents, 0));
    return 0;
}

static json_t *from_flags(const struct proxy_flags *flags) {
    return json_pack("{s:{s:s*},s:s*,s:s*,s:s*,s:s*,s:{s:s*,s:s*,s:b}}", "clientConnection",
                     "kubeconfig", flags->kubeconfig, "hostnameOverride", flags->hostname_override,
                     "bindAddress", flags->bind_address, "mode", flags->proxy_mode,
                     "healthzBindAddress", flags->healthz_bind_address, "winkernel", "networkName",
                     flags->network_name, "sourceVip", flags->source_vip, "enableDSR",
                     flags->enable_dsr);
}

static char *text_of(const json_t *config, const char *path) {
    const char *text = json_text_at(config, path);

    return text && *text ? xstrdup(text) : NULL;
}

static char *default_address(struct host *host) {
    struct host_adapters adapters = {0};
    struct error err = {0};
    char *found = NULL;

    (void)host_adapters(host, &adapters, &err); /* none: no address below */
    for (size_t i = 0; i < adapters.count && !found; i++) {
        const struct host_adapter *adapter = &adapters.items[i];
        for (size_t j = 0; adapter->gateways.count && j < adapter->addresses.count; j++) {
            if (!found && !strchr(adapter->addresses.items[j], ':'))
                found = xstrndup(adapter->addresses.items[j],
                                 strcspn(adapter->addresses.items[j], "/"));
        }
    }
    host_adapters_free(&adapters);
    return found;
}

static void take_health(const json_t *config, struct proxy_settings *settings) {
    const char *text = json_text_at(config, "healthzBindAddress");
    const char *colon = text ? strrchr(text, ':') : NULL;
    long long port = 10256;

    if (colon)
        (void)text_to_number(colon + 1, 0, 65535, &port); /* stays the default */
    settings->healthz_address = text && *text
                                    ? xstrndup(text, colon ? (size_t)(colon - text) : strlen(text))
                                    : xstrdup("0.0.0.0");
    settings->healthz_port = (unsigned)port;
}

int proxy_configure(struct host *host, const struct proxy_flags *flags, struct proxy_settings *ret,
                    struct error *err) {
    _cleanup_(json_decrefp_) json_t *config = NULL;
    struct proxy_settings made = {0};
    struct host_facts facts = {0};

    if (flags->config) {
        if (read_config(host, flags->config, &config, err))
            return -1;
    } else {
        config = from_flags(flags);
    }
    made.kubeconfig = text_of(config, "clientConnection.kubeconfig");
    made.network_name = text_of(config, "winkernel.networkName");
    made.source_vip = text_of(config, "winkernel.sourceVip");
    made.dsr = json_bool_at(config, "winkernel.enableDSR", false);
    made.node_ip = text_of(config, "bindAddress");
    const char *name = flags->hostname_override ? flags->hostname_override
                                                : json_text_at(config, "hostnameOverride");
    if ((!name || !*name) && host_facts(host, &facts, err))
        return -1;
    made.hostname = text_lower(name && *name ? name : facts.host_name);
    if (!made.network_name)
        made.network_name = host_environment(host, "KUBE_NETWORK");
    if (!made.network_name)
        return error_set(err, ERROR_USAGE, "network-name flag not set");
    if (!made.kubeconfig)
        return error_set(err, ERROR_USAGE,
                         "invalid configuration: no configuration has been "
                         "provided");
    if (!made.node_ip || text_equal(made.node_ip, "0.0.0.0"))
        made.node_ip = default_address(host);
    take_health(config, &made);
    *ret = made;
    return 0;
}
