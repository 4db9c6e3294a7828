/* Describes the service kube-proxy. */
#include "services/rows/service_rows.h"
#include "services/runtime_files.h"
#include "services/version.h"

static int arguments(const struct service_settings *settings, struct text_list *ret,
                     struct error *err) {
    _cleanup_(freep) char *node = text_lower(settings->node_name ? settings->node_name : "");
    unsigned minor = 0;

    if (kubernetes_minor(settings->kube_proxy_version, "kube-proxy", &minor, err) < 0)
        return -1;
    argument_add(ret, "--config", KUBE_PROXY_CONFIG_PATH);
    argument_add(ret, "--hostname-override", node);
    text_list_add(ret, "--v=2");
    return 0;
}

static char *environment(const struct service_settings *settings) {
    return settings->network_name ? xasprintf("KUBE_NETWORK=%s", settings->network_name) : NULL;
}

const struct service service_kube_proxy = {
    SERVICE_NAMED("kube-proxy", "kube-proxy"),
    .display_name = "Kubernetes kube-proxy",
    .description = "winjoin: programs Kubernetes Services in HNS",
    .artifact = "kube-proxy",
    .program = "C:\\k\\kube-proxy.exe",
    .hosted = true,
    .depends_on = {"hns"},
    .restart_delays_ms = {5000, 10000, 30000}, /* kube-proxy exits when HNS does not answer yet. */
    .reset_seconds = 600,
    .stop_timeout_ms = 10000,
    .ports = {SERVICE_PORT(10256, "kube-proxy's health port"),
              SERVICE_PORT(10249, "kube-proxy's metrics port")},
    .needs_network = true,
    .kubernetes = true,
    .diagnosed = true,
    /* kube-proxy reports nothing itself; its work is visible in HNS. */
    .proof = {.kind = SERVICE_BALANCES_LOAD,
              .timeout_ms = 60000,
              .waiting = "for kube-proxy to program the first Service",
              .failed = "wait for kube-proxy: it has not programmed any Service",
              .reads = "/apis/discovery.k8s.io/v1/endpointslices?limit=1"},
    .chosen_by = SERVICE_CHOSEN_BY_KUBE_PROXY,
    .arguments = arguments,
    .environment = environment,
};
