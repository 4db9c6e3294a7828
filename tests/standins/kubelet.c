/* Stand-in for kubelet.exe: registers the Node, keeps its lease, runs static pods, shows them as
 * mirror pods. Reads the same files and flags, and refuses what the real one refuses. */
#include "base/memory.h"
#include "host/host.h"
#include "tests/standins/kubelet/config.h"
#include "tests/standins/kubelet/node.h"
#include "tests/standins/kubelet/static_pods.h"
#include "tests/standins/lib/flags.h"
#include "tests/standins/lib/klog.h"
#include "tests/standins/lib/lifetime.h"
#include "tests/standins/lib/pipe.h"
#include "tests/standins/lib/serve.h"

#include <stdio.h>

enum { RUNTIME_SECONDS = 30, ROUND_MS = 500 };

static struct kubelet_flags given;
static bool ignored;

static const struct flag flags[] = {
    {"config", &given.config, NULL,
     "The Kubelet will load its initial configuration from this file"},
    {"kubeconfig", &given.kubeconfig, NULL, "Path to a kubeconfig file"},
    {"bootstrap-kubeconfig", &given.bootstrap_kubeconfig, NULL,
     "Path to a kubeconfig file that "
     "will be used to get client certificate for kubelet"},
    {"cert-dir", &given.cert_dir, NULL, "The directory where the TLS certs are located"},
    {"hostname-override", &given.hostname_override, NULL,
     "If non-empty, will use this string as "
     "identification instead of the actual hostname"},
    {"node-ip", &given.node_ip, NULL,
     "IP address (or comma-separated dual-stack IP addresses) of "
     "the node"},
    {"node-labels", &given.node_labels, NULL, "Labels to add when registering the node"},
    {"register-with-taints", &given.register_with_taints, NULL,
     "Register the node with the given "
     "list of taints"},
    {"container-runtime-endpoint", &given.container_runtime_endpoint, NULL,
     "The endpoint of "
     "container runtime service"},
    {"resolv-conf", &given.resolv_conf, NULL, "Resolver configuration file"},
    {"pod-manifest-path", &given.pod_manifest_path, NULL,
     "Path to the directory containing static "
     "pod files to run"},
    {"windows-service", NULL, &given.windows_service,
     "Enable Windows Service Control Manager API "
     "integration"},
    {"exit-on-lock-contention", NULL, &given.exit_on_lock_contention,
     "Whether kubelet should exit upon lock-file contention."},
    {"windows-priorityclass", NULL, NULL, "The PriorityClass associated with kubelet process"},
    {"root-dir", NULL, NULL, "Directory path for managing kubelet files"},
    {"enable-debugging-handlers", NULL, &ignored, "Enables server endpoints for log collection"},
    {"cgroups-per-qos", NULL, &ignored, "Enable creation of QoS cgroup hierarchy"},
    {"register-node", NULL, &ignored, "Register the node with the apiserver"},
    {"rotate-certificates", NULL, &ignored, "Auto rotate the kubelet client certificates"},
    {"enforce-node-allocatable", NULL, NULL,
     "A comma separated list of levels of node allocatable "
     "enforcement"},
    {"feature-gates", NULL, NULL, "A set of key=value pairs that describe feature gates"},
    {"cloud-provider", NULL, NULL, "The provider for cloud services"},
    {"provider-id", NULL, NULL, "Unique identifier for identifying the node"},
    {"max-pods", NULL, NULL, "Number of Pods that can run on this Kubelet"},
    {"cluster-dns", NULL, NULL, "Comma-separated list of DNS server IP address"},
    {"cluster-domain", NULL, NULL, "Domain for this cluster"},
    {"image-credential-provider-bin-dir", NULL, NULL,
     "The path to the directory where credential "
     "provider plugin binaries are located"},
    {"image-credential-provider-config", NULL, NULL, "Path to a credential provider plugin config"},
    {"kube-reserved", NULL, NULL, "A set of ResourceName=ResourceQuantity pairs"},
    {"system-reserved", NULL, NULL, "A set of ResourceName=ResourceQuantity pairs"},
    {"eviction-hard", NULL, NULL, "A set of eviction thresholds"},
    {"log-flush-frequency", NULL, NULL, "Maximum number of seconds between log flushes"},
    {"logging-format", NULL, NULL, "Sets the log format"},
    {"vmodule", NULL, NULL, "comma-separated list of pattern=N settings"},
    {"v", NULL, NULL, "number for the log level verbosity"},
    {NULL, NULL, NULL, NULL},
};

static const struct program program = {"kubelet", "Kubernetes " KUBELET_VERSION, flags};
static struct kubelet_settings settings;

static int start_servers(struct error *err) {
    if (settings.healthz_port && serve_health(settings.healthz_address, settings.healthz_port, err))
        return -1;
    return serve_unauthorized(settings.port, settings.node_name, err);
}

/* true when the runtime answers within its time. */
static bool wait_for_runtime(struct error *err) {
    _cleanup_(json_decrefp_) json_t *request = json_pack("{s:s}", "op", "Version");

    for (int i = 0; i < RUNTIME_SECONDS; i++) {
        _cleanup_(json_decrefp_) json_t *answer = NULL;
        error_clear(err);
        if (pipe_ask(settings.pipe, request, &answer, err) == 0)
            return true;
        if (lifetime_wait(1000))
            return false;
    }
    return false;
}

static bool network_ready(char **ret_why) {
    _cleanup_(json_decrefp_) json_t *request = json_pack("{s:s}", "op", "Status"), *answer = NULL;
    struct error err = {0};

    if (pipe_ask(settings.pipe, request, &answer, &err)) {
        *ret_why = xstrdup(err.message);
        return false;
    }
    const char *why = json_text_at(answer, "message");
    *ret_why = xstrdup(why ? why : "");
    return json_bool_at(answer, "ready", false);
}

/* Static pods need no API server: they have a thread of their own. */
static void run_pods(void *unused) {
    struct host *host = host_win32_open();

    (void)unused;
    do {
        _cleanup_(freep) char *why = NULL;
        bool ready = network_ready(&why);
        static_pods_sync(host, &settings, ready);
    } while (!lifetime_wait(ROUND_MS));
    host_free(host);
}

static void round_of(struct cluster *cluster) {
    _cleanup_(freep) char *why = NULL;
    struct error err = {0};
    bool ready = network_ready(&why);

    static_pods_sync(cluster->host, &settings, ready);
    if (node_sync(cluster, &settings, &given, ready, why, &err))
        klog('E', "Error updating node status, will retry: %s", err.message);
    else
        mirror_pods_sync(cluster, &settings);
}

static int run(void) {
    struct host *host = host_win32_open();
    struct cluster cluster;
    struct error err = {0};

    (void)klog_open("kubelet", NULL); /* without a file it cannot fail */
    if (kubelet_configure(host, &given, &settings, &err) || start_servers(&err) ||
        !wait_for_runtime(&err)) {
        klog('E', "command failed: %s", err.message);
        fprintf(stderr, "Error: %s\n", err.message);
        host_free(host);
        return lifetime_over() ? 0 : 1;
    }
    host_free(host);
    klog('I', "Started kubelet, node \"%s\", address %s", settings.node_name, settings.node_ip);
    if (!given.kubeconfig) {
        run_pods(NULL);
        return 0;
    }
    if (cluster_open("kubelet", given.kubeconfig, &cluster))
        return 0;
    do
        round_of(&cluster);
    while (!lifetime_wait(ROUND_MS));
    cluster_close(&cluster);
    return 0;
}

int main(int argc, char **argv) {
    int code = flags_parse(&program, argc, argv);

    return code >= 0 ? code : lifetime_run(given.windows_service ? "kubelet" : NULL, run);
}
