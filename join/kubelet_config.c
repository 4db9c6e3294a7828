/* The cluster's KubeletConfiguration made fit for a Windows node: one table a kind of change. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/yaml.h"
#include "join/kubelet_files.h"

/* Fields that mean nothing, or keep the kubelet from starting, on Windows. `gate`: kept when the
 * document turns this feature gate on. `only`: removed only when its value begins like this. */
static const struct {
    const char *field, *gate, *only;
} removed[] = {
    {"allowedUnsafeSysctls", NULL, NULL},
    {"cgroupDriver", NULL, NULL},
    {"cgroupRoot", NULL, NULL},
    {"cpuManagerPolicy", "WindowsCPUAndMemoryAffinity", NULL},
    {"cpuManagerPolicyOptions", "WindowsCPUAndMemoryAffinity", NULL},
    {"cpuManagerReconcilePeriod", "WindowsCPUAndMemoryAffinity", NULL},
    {"failSwapOn", NULL, NULL},
    {"imageServiceEndpoint", NULL, "unix:"},
    {"iptablesDropBit", NULL, NULL},
    {"iptablesMasqueradeBit", NULL, NULL},
    {"kernelMemcgNotification", NULL, NULL},
    {"kubeReservedCgroup", NULL, NULL},
    {"kubeletCgroups", NULL, NULL},
    {"makeIPTablesUtilChains", NULL, NULL},
    {"memoryManagerPolicy", "WindowsCPUAndMemoryAffinity", NULL},
    {"memorySwap", NULL, NULL},
    {"podLogsDir", NULL, "/"},
    {"protectKernelDefaults", NULL, NULL},
    {"reservedMemory", "WindowsCPUAndMemoryAffinity", NULL},
    {"reservedSystemCPUs", NULL, NULL},
    {"seccompDefault", NULL, NULL},
    {"shutdownGracePeriod", "WindowsGracefulNodeShutdown", NULL},
    {"shutdownGracePeriodByPodPriority", "WindowsGracefulNodeShutdown", NULL},
    {"shutdownGracePeriodCriticalPods", "WindowsGracefulNodeShutdown", NULL},
    {"singleProcessOOMKill", NULL, NULL},
    {"systemCgroups", NULL, NULL},
    {"systemReservedCgroup", NULL, NULL},
    {"tlsCertFile", NULL, "/"},
    {"tlsPrivateKeyFile", NULL, "/"},
    {"topologyManagerPolicy", "WindowsCPUAndMemoryAffinity", NULL},
    {"topologyManagerPolicyOptions", "WindowsCPUAndMemoryAffinity", NULL},
    {"topologyManagerScope", "WindowsCPUAndMemoryAffinity", NULL},
    {"userNamespaces", NULL, NULL},
    {"volumePluginDir", NULL, "/"},
};

static const char *const eviction_maps[] = {"evictionHard", "evictionSoft",
                                            "evictionSoftGracePeriod", "evictionMinimumReclaim"};
static const char *const linux_signals[] = {"nodefs.inodesFree", "imagefs.inodesFree",
                                            "containerfs.inodesFree", "pid.available"};

/* Zero values stand in every file that kubeadm writes; taking them away is no news. */
static bool is_empty(const json_t *value) {
    const char *text = json_string_value(value);

    return json_is_null(value) || (json_is_object(value) && json_object_size(value) == 0) ||
           (json_is_array(value) && json_array_size(value) == 0) ||
           (text && (!*text || text_equal(text, "0s")));
}

static void note(struct text_list *changes, const char *field, const json_t *before,
                 const json_t *after, const char *why) {
    _cleanup_(freep) char *old = before ? json_write(before) : NULL;
    _cleanup_(freep) char *new = after ? json_write(after) : NULL;

    if (!after)
        text_list_add_owned(changes, xasprintf("%s: %s removed (%s)", field, old, why));
    else if (old)
        text_list_add_owned(changes, xasprintf("%s: %s changed to %s (%s)", field, old, new, why));
    else
        text_list_add_owned(changes, xasprintf("%s: set to %s (%s)", field, new, why));
}

static bool gate_is_on(const json_t *config, const char *gate) {
    return gate && json_is_true(json_object_get(json_object_get(config, "featureGates"), gate));
}

static void remove_fields(json_t *config, struct text_list *changes) {
    for (size_t i = 0; i < ARRAY_SIZE(removed); i++) {
        const json_t *value = json_object_get(config, removed[i].field);
        const char *text = json_string_value(value);

        if (!value || gate_is_on(config, removed[i].gate))
            continue;
        if (removed[i].only && !(text && text_starts_with(text, removed[i].only)))
            continue;
        if (!is_empty(value))
            note(changes, removed[i].field, value, NULL, "Linux only");
        json_object_del(config, removed[i].field);
    }
}

static void remove_signals(json_t *config, struct text_list *changes) {
    for (size_t i = 0; i < ARRAY_SIZE(eviction_maps); i++) {
        json_t *map = json_object_get(config, eviction_maps[i]);
        bool touched = false;

        for (size_t k = 0; k < ARRAY_SIZE(linux_signals); k++) {
            const json_t *value = json_object_get(map, linux_signals[k]);
            _cleanup_(freep) char *field = NULL;

            if (!value)
                continue;
            field = xasprintf("%s[%s]", eviction_maps[i], linux_signals[k]);
            note(changes, field, value, NULL, "no such eviction signal on Windows");
            json_object_del(map, linux_signals[k]);
            touched = true;
        }
        if (touched && json_object_size(map) == 0)
            json_object_del(config, eviction_maps[i]); /* {} would switch the defaults off */
    }
}

/* The object that holds the last part of a dotted path, made where absent; *ret_key is that part.
 */
static json_t *parent_of(json_t *config, const char *path, const char **ret_key) {
    const char *dot;

    while ((dot = strchr(path, '.')) != NULL) {
        _cleanup_(freep) char *key = xstrndup(path, (size_t)(dot - path));
        json_t *next = json_object_get(config, key);

        if (!json_is_object(next)) {
            next = json_object();
            json_object_set_new(config, key, next);
        }
        config = next;
        path = dot + 1;
    }
    *ret_key = path;
    return config;
}

/* Takes over `value`. */
static void force(json_t *config, const char *path, json_t *value, const char *why,
                  struct text_list *changes) {
    const char *key;
    json_t *parent = parent_of(config, path, &key);
    const json_t *old = json_object_get(parent, key);

    if (!old || !json_equal(old, value)) {
        if (!old || !is_empty(old) || !is_empty(value))
            note(changes, path, old, value, why);
        json_object_set(parent, key, value);
    }
    json_decref(value);
}

/* Takes over `value`. What kubeadm fills in is no change worth telling. */
static void fill_in(json_t *config, const char *path, json_t *value) {
    const char *key;
    json_t *parent = parent_of(config, path, &key);

    if (!json_object_get(parent, key) || is_empty(json_object_get(parent, key)))
        json_object_set(parent, key, value);
    json_decref(value);
}

static json_t *list_of(const struct text_list *list) {
    json_t *array = json_array();

    for (size_t i = 0; list && i < list->count; i++)
        json_array_append_new(array, json_string(list->items[i]));
    return array;
}

static void fill_defaults(json_t *config, const struct kubelet_config_input *input) {
    fill_in(config, "staticPodPath", json_string("/etc/kubernetes/manifests"));
    fill_in(config, "clusterDNS", list_of(input->cluster_dns));
    fill_in(config, "clusterDomain", json_string(input->dns_domain ? input->dns_domain : ""));
    fill_in(config, "authentication.anonymous.enabled", json_false());
    fill_in(config, "authentication.webhook.enabled", json_true());
    fill_in(config, "authorization.mode", json_string("Webhook"));
    fill_in(config, "healthzBindAddress", json_string("127.0.0.1"));
    fill_in(config, "healthzPort", json_integer(10248));
    fill_in(config, "rotateCertificates", json_true());
}

/* "/etc/x" to "C:\etc\x"; others as they are. New reference. */
static json_t *with_drive(const char *path, const char *drive) {
    struct text out = {0};
    json_t *result;

    if (path[0] != '/')
        return json_string(path);
    text_add(&out, drive);
    for (; *path; path++)
        text_add_char(&out, *path == '/' ? '\\' : *path);
    result = json_string(text_str(&out));
    text_free(&out);
    return result;
}

static void force_values(json_t *config, const struct kubelet_config_input *input,
                         struct text_list *changes) {
    const char *why = "must be so on Windows", *path = json_text_at(config, "staticPodPath");
    const char *drive = input->drive ? input->drive : "C:";

    force(config, "staticPodPath", with_drive(path ? path : "", drive), "path with its drive",
          changes);
    force(config, "authentication.x509.clientCAFile",
          json_string(input->ca_file ? input->ca_file : KUBERNETES_CA_FILE), "path with its drive",
          changes);
    force(config, "containerRuntimeEndpoint",
          json_string(input->cri_socket ? input->cri_socket : KUBELET_CRI_SOCKET),
          "the socket of this node", changes);
    force(config, "resolvConf", json_string(""), why, changes);
    force(config, "cgroupsPerQOS", json_false(), why, changes);
    force(config, "enforceNodeAllocatable", json_array(), why, changes);
}

int kubelet_config_make(const struct kubelet_config_input *input, json_t **ret,
                        struct text_list *changes, struct error *err) {
    const char *version = json_text_at(input->cluster, "apiVersion");
    json_t *config;

    if (!text_equal(json_text_at(input->cluster, "kind"), "KubeletConfiguration"))
        return error_set(err, ERROR_MALFORMED,
                         "make the kubelet's configuration: the cluster's is no "
                         "KubeletConfiguration");
    if (!text_equal(version, "kubelet.config.k8s.io/v1beta1"))
        return error_set(err, ERROR_MALFORMED,
                         "make the kubelet's configuration: apiVersion \"%s\" is not "
                         "kubelet.config.k8s.io/v1beta1",
                         version ? version : "");
    config = json_deep_copy(input->cluster);
    fill_defaults(config, input);
    remove_fields(config, changes);
    remove_signals(config, changes);
    force_values(config, input, changes);
    *ret = config;
    return 0;
}

char *kubelet_config_text(const json_t *config) {
    return yaml_write(config);
}
