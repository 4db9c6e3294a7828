/* What the kubelet stand-in is told. */
#include "tests/standins/kubelet/config.h"

#include "base/memory.h"
#include "base/yaml.h"
#include "tests/standins/lib/klog.h"

#include <stdlib.h>
#include <string.h>

enum { CONFIG_MAX = 1024 * 1024 };

static int read_config(struct host *host, const char *path, json_t **ret, struct error *err) {
    _cleanup_(freep) char *text = NULL;
    _cleanup_(yaml_forget) struct yaml yaml = {0};
    size_t len;

    if (host_read(host, path, CONFIG_MAX, &text, &len, err) ||
        yaml_read(text, len, path, &yaml, err))
        return error_prefix(err, "failed to load kubelet config file, path: %s", path);
    if (!text_equal(json_text_at(yaml.documents, "0.kind"), "KubeletConfiguration") ||
        !text_equal(json_text_at(yaml.documents, "0.apiVersion"), "kubelet.config.k8s.io/v1beta1"))
        return error_set(err, ERROR_MALFORMED,
                         "failed to load kubelet config file, path: %s, error: no kind "
                         "KubeletConfiguration of kubelet.config.k8s.io/v1beta1",
                         path);
    *ret = json_incref(json_array_get(yaml.documents, 0));
    return 0;
}

/* Go's filepath.IsAbs on Windows: a drive and a backslash; all else lies beside the file. */
static char *resolve(const char *path, const char *config) {
    const char *end = strrchr(config, '\\'), *slash = strrchr(config, '/');

    if (path[0] && path[1] == ':' && (path[2] == '\\' || path[2] == '/'))
        return xstrdup(path);
    if (!end || (slash && slash > end))
        end = slash;
    return xasprintf("%.*s\\%s", end ? (int)(end - config) : 0, config, path + strspn(path, "/\\"));
}

static int invalid(struct error *err, const char *why) {
    return error_set(err, ERROR_USAGE,
                     "failed to validate kubelet configuration, error: invalid configuration: %s, "
                     "path: &TypeMeta{Kind:,APIVersion:,}",
                     why);
}

/* A few of pkg/kubelet/apis/config/validation and of the decoder. */
static int validate(const json_t *config, struct error *err) {
    const json_t *pods = json_object_get(config, "maxPods");
    const char *hairpin = json_text_at(config, "hairpinMode");

    if (json_object_get(config, "maxPodz"))
        klog('I', "Using lenient decoding as strict decoding failed err=\"strict decoding error: "
                  "unknown field \\\"maxPodz\\\"\"");
    if (pods && !json_is_null(pods) && !json_is_integer(pods))
        return error_set(
            err, ERROR_MALFORMED,
            "failed to load kubelet config file, error: failed to decode: json: cannot "
            "unmarshal string into Go struct field KubeletConfiguration.maxPods of "
            "type int32");
    if (json_integer_value(pods) < 0)
        return invalid(err, "maxPods (--max-pods) -1 must not be a negative number");
    if (hairpin && *hairpin && !text_equal(hairpin, "none") && !text_equal(hairpin, "hairpin-veth"))
        return invalid(err, "option \"x\" specified for hairpinMode (--hairpin-mode)");
    if (json_at(config, "featureGates.NoSuchGate"))
        return error_set(err, ERROR_USAGE,
                         "failed to set feature gates from initial flags-based config: "
                         "unrecognized feature gate: NoSuchGate");
    return 0;
}

static int check(struct host *host, const struct kubelet_flags *flags, const json_t *config,
                 struct error *err) {
    const char *ca = json_text_at(config, "authentication.x509.clientCAFile");
    const char *resolver = json_text_at(config, "resolvConf");

    if (ca && *ca) {
        _cleanup_(freep) char *path = resolve(ca, flags->config);
        if (host_file_type(host, path) != HOST_FILE)
            return error_set(err, ERROR_ABSENT,
                             "failed to construct kubelet dependencies: unable to load client CA "
                             "file %s: open %s: The system cannot find the path specified.",
                             path, path);
    }
    if (flags->resolv_conf)
        resolver = flags->resolv_conf;
    if (resolver && *resolver && !text_equal(resolver, "Host"))
        return error_set(err, ERROR_USAGE,
                         "Unexpected resolver config value: \"%s\". Expected \"\" or \"Host\".",
                         resolver);
    return 0;
}

/* npipe:////./pipe/x -> \\.\pipe\x */
static int read_endpoint(const struct kubelet_flags *flags, const json_t *config, char **ret,
                         struct error *err) {
    const char *endpoint = json_text_at(config, "containerRuntimeEndpoint");

    if (flags->container_runtime_endpoint)
        endpoint = flags->container_runtime_endpoint;
    if (!endpoint || !*endpoint)
        return error_set(err, ERROR_USAGE,
                         "the container runtime endpoint address was not specified or empty, use "
                         "--container-runtime-endpoint to set");
    if (!text_starts_with(endpoint, "npipe://"))
        return error_set(err, ERROR_USAGE, "parse endpoint \"%s\": protocol not supported",
                         endpoint);
    char *pipe = xstrdup(endpoint + strlen("npipe://"));
    for (char *p = pipe; *p; p++)
        *p = *p == '/' ? '\\' : *p;
    *ret = pipe;
    return 0;
}

static char *own_name(struct host *host, const char *override) {
    struct host_facts facts = {0};
    struct error err = {0};

    if (override && *override)
        return text_lower(override);
    (void)host_facts(host, &facts, &err); /* an empty name is refused by the server */
    return text_lower(facts.host_name);
}

/* The first IPv4 address of an adapter that has a gateway. */
static char *own_address(struct host *host, const char *given) {
    struct host_adapters adapters = {0};
    struct error err = {0};
    char *found = NULL;

    if (given && *given)
        return xstrdup(given);
    (void)host_adapters(host, &adapters, &err); /* none found: no address below */
    for (size_t i = 0; i < adapters.count && !found; i++) {
        const struct host_adapter *adapter = &adapters.items[i];
        for (size_t j = 0; adapter->gateways.count && j < adapter->addresses.count; j++) {
            const char *address = adapter->addresses.items[j];
            if (!strchr(address, ':') && !text_starts_with(address, "169.254."))
                found = xstrndup(address, strcspn(address, "/"));
        }
    }
    host_adapters_free(&adapters);
    return found;
}

static void take_config(const struct kubelet_flags *flags, const json_t *config,
                        struct kubelet_settings *ret) {
    const char *pods = json_text_at(config, "staticPodPath");
    const char *address = json_text_at(config, "healthzBindAddress");
    const char *domain = json_text_at(config, "clusterDomain");
    size_t i;
    json_t *server;

    if (flags->pod_manifest_path)
        pods = flags->pod_manifest_path;
    if (pods && *pods)
        ret->static_pod_path = resolve(pods, flags->config ? flags->config : "C:\\");
    ret->healthz_address = xstrdup(address ? address : "127.0.0.1");
    ret->healthz_port = (unsigned)json_number_at(config, "healthzPort", 10248);
    ret->port = (unsigned)json_number_at(config, "port", 10250);
    ret->cluster_domain = xstrdup(domain ? domain : "");
    json_array_foreach(json_object_get(config, "clusterDNS"), i, server)
        text_list_add(&ret->cluster_dns, json_string_value(server));
}

int kubelet_configure(struct host *host, const struct kubelet_flags *flags,
                      struct kubelet_settings *ret, struct error *err) {
    _cleanup_(json_decrefp_) json_t *config = NULL;
    struct kubelet_settings made = {0};

    if (flags->config && read_config(host, flags->config, &config, err))
        return -1;
    if (!config)
        config = json_object();
    if (validate(config, err) || check(host, flags, config, err))
        return -1;
    if (flags->exit_on_lock_contention)
        return error_set(err, ERROR_USAGE,
                         "failed to run Kubelet: cannot exit on lock file contention: no lock file "
                         "specified");
    if (read_endpoint(flags, config, &made.pipe, err))
        return -1;
    made.node_name = own_name(host, flags->hostname_override);
    made.node_ip = own_address(host, flags->node_ip);
    char *comma = made.node_ip ? strchr(made.node_ip, ',') : NULL;
    if (comma) {
        made.node_ip6 = xstrdup(comma + 1);
        *comma = '\0';
    }
    if (!made.node_ip)
        return error_set(err, ERROR_HOST,
                         "failed to get node ip address: no adapter has a gateway");
    take_config(flags, config, &made);
    *ret = made;
    return 0;
}
