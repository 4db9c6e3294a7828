/* Stand-in for kube-proxy.exe in mode kernelspace: Services become HNS load balancers, in the
 * documents that upstream sends. */
#include "base/memory.h"
#include "base/text.h"
#include "host/host.h"
#include "tests/standins/kube-proxy/balancers.h"
#include "tests/standins/kube-proxy/config.h"
#include "tests/standins/kube-proxy/network.h"
#include "tests/standins/kube-proxy/rules.h"
#include "tests/standins/lib/cache.h"
#include "tests/standins/lib/flags.h"
#include "tests/standins/lib/hcn.h"
#include "tests/standins/lib/klog.h"
#include "tests/standins/lib/lifetime.h"
#include "tests/standins/lib/serve.h"

enum { LOOK_MS = 250, SYNC_ROUNDS = 120 };

static struct proxy_flags given;
static bool ignored;

static const struct flag flags[] = {
    {"config", &given.config, NULL, "The path to the configuration file"},
    {"kubeconfig", &given.kubeconfig, NULL, "Path to kubeconfig file with authorization info"},
    {"hostname-override", &given.hostname_override, NULL, "the name of the node"},
    {"bind-address", &given.bind_address, NULL, "Overrides kube-proxy's idea of its node's IP"},
    {"network-name", &given.network_name, NULL, "The name of the cluster network"},
    {"source-vip", &given.source_vip, NULL, "The IP address of the source VIP for non-DSR"},
    {"proxy-mode", &given.proxy_mode, NULL, "Which proxy mode to use: kernelspace"},
    {"healthz-bind-address", &given.healthz_bind_address, NULL,
     "The IP and port for the health "
     "check server"},
    {"enable-dsr", NULL, &given.enable_dsr, "Set this flag to enable DSR"},
    {"windows-service", NULL, &given.windows_service,
     "Enable Windows Service Control Manager API "
     "integration"},
    {"cleanup", NULL, &ignored, "If true cleanup iptables and ipvs rules and exit"},
    {"cluster-cidr", NULL, NULL, "The CIDR range of the pods in the cluster"},
    {"feature-gates", NULL, NULL, "A set of key=value pairs that describe feature gates"},
    {"root-hnsendpoint-name", NULL, NULL,
     "The name of the hns endpoint that is attached to the "
     "host namespace"},
    {"metrics-bind-address", NULL, NULL, "The IP address and port for the metrics server"},
    {"nodeport-addresses", NULL, NULL, "A list of CIDR ranges that contain valid node IPs"},
    {"v", NULL, NULL, "number for the log level verbosity"},
    {NULL, NULL, NULL, NULL},
};

static const struct program program = {"kube-proxy", "Kubernetes v1.37.1", flags};
static struct proxy_settings settings;

/* The probes of a start, in upstream's order; the exit code where one fails. */
static int check_hns(struct host *host, struct error *err) {
    _cleanup_(freep) char *answer = NULL;
    unsigned major, minor;

    if (hns_call(host, "GET", "/policylists/", "", &answer, err)) {
        (void)error_prefix(err, "Windows kernel is not compatible for Kernel mode");
        return 1;
    }
    if (hcn_version(host, &major, &minor, err) || major < 9 || (major == 9 && minor < 2)) {
        (void)error_prefix(err, "panic: HNS version");
        return 2; /* Go's exit code of a panic */
    }
    return balancers_delete_all(host, err) ? 1 : 0;
}

static void sync_services(struct proxy_network *network, const json_t *services,
                          const json_t *slices) {
    struct error err = {0};

    if (proxy_network_refresh(network, &err)) {
        klog('E', "%s", err.message);
        return;
    }
    _cleanup_(json_decrefp_) json_t *rules =
        rules_make(services, slices, proxy_network_has_ipv6(network), settings.hostname);
    balancers_sync(network, rules);
}

static void follow(struct proxy_network *network) {
    struct cache *services = cache_start("kube-proxy", settings.kubeconfig, "/api/v1/services");
    struct cache *slices =
        cache_start("kube-proxy", settings.kubeconfig, "/apis/discovery.k8s.io/v1/endpointslices");
    unsigned seen = 0, rounds = 0;

    do {
        _cleanup_(json_decrefp_) json_t *all_services = NULL, *all_slices = NULL;
        unsigned a = cache_read(services, &all_services), b = cache_read(slices, &all_slices);
        if (a && b && (a + b != seen || ++rounds % SYNC_ROUNDS == 0)) {
            seen = a + b;
            sync_services(network, all_services, all_slices);
        }
    } while (!lifetime_wait(LOOK_MS));
}

static int run(void) {
    struct host *host = host_win32_open();
    struct proxy_network network;
    struct error err = {0};
    int code = 1;

    (void)klog_open("kube-proxy", NULL); /* without a file it cannot fail */
    if (proxy_configure(host, &given, &settings, &err) == 0)
        code = check_hns(host, &err);
    if (code == 0 && settings.healthz_port &&
        serve_health(settings.healthz_address, settings.healthz_port, &err))
        code = 1;
    if (code == 0 && proxy_network_open(host, &settings, &network, &err))
        code = lifetime_over() ? 0 : 1;
    else if (code == 0)
        follow(&network);
    if (code)
        klog('E', "Error running ProxyServer: %s", err.message);
    host_free(host);
    return code;
}

int main(int argc, char **argv) {
    int code = flags_parse(&program, argc, argv);

    return code >= 0 ? code : lifetime_run(given.windows_service ? "kube-proxy" : NULL, run);
}
