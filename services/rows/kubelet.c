/* Describes the service kubelet. */
#include "services/rows/service_rows.h"
#include "services/version.h"

enum { OLDEST = 24, ANY = 999 };

/* Flags that are always given. `last` is the last minor version that needs the flag. */
static const struct flag {
    const char *text;
    unsigned last;
} flags[] = {
    {"--config=C:\\var\\lib\\kubelet\\config.yaml", ANY},
    {"--kubeconfig=C:\\etc\\kubernetes\\kubelet.conf", ANY},
    {"--cert-dir=C:\\var\\lib\\kubelet\\pki", ANY},
    /* The configuration file has this value since 1.27. */
    {"--container-runtime-endpoint=npipe:////./pipe/containerd-containerd", 26},
    {"--v=2", ANY},
};

static int arguments(const struct service_settings *settings, struct text_list *ret,
                     struct error *err) {
    _cleanup_(freep) char *node = text_lower(settings->node_name ? settings->node_name : "");
    unsigned minor = 0;

    if (kubernetes_minor(settings->kubelet_version, "kubelet", &minor, err) < 0)
        return -1;
    if (minor < OLDEST)
        return error_set(err, ERROR_UNSUPPORTED,
                         "kubelet '%s' is not supported: the oldest supported version is 1.%d",
                         settings->kubelet_version, OLDEST);
    for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
        if (minor <= flags[i].last)
            text_list_add(ret, flags[i].text);
    if (settings->bootstrap_kubeconfig)
        argument_add(ret, "--bootstrap-kubeconfig", "C:\\etc\\kubernetes\\bootstrap-kubelet.conf");
    argument_add(ret, "--hostname-override", node);
    argument_add(ret, "--node-ip", settings->node_ip);
    argument_add(ret, "--node-labels", settings->node_labels);
    argument_add(ret, "--register-with-taints", settings->register_with_taints);
    return 0;
}

const struct service service_kubelet = {
    SERVICE_NAMED("kubelet", "Kubelet"),
    .display_name = "Kubernetes kubelet",
    .description = "winjoin: the Kubernetes node agent",
    .artifact = "kubelet",
    .program = "C:\\k\\kubelet.exe",
    .hosted = true,
    .depends_on = {"containerd"},
    .restart_delays_ms = {5000, 10000, 30000},
    .reset_seconds = 600,
    .preshutdown_ms = 60000,
    .stop_timeout_ms = 30000,
    .ports = {SERVICE_PORT(10250, "the kubelet's port"),
              SERVICE_PORT(10248, "the kubelet's health port")},
    .kubernetes = true,
    .diagnosed = true,
    .proof = {.kind = SERVICE_IS_HEALTHY,
              .timeout_ms = 240000, /* The time limit of kubeadm (waitForKubelet). */
              .waiting = "for a healthy kubelet",
              .failed = "wait for the kubelet: not healthy"},
    .extra_args = offsetof(struct service_settings, kubelet_extra_args),
    .arguments = arguments,
};
