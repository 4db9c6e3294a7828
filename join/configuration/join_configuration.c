/* Lists the fields of a JoinConfiguration by version, and adds kubeadm's defaults. */
#include "join/configuration/join_configuration.h"

#include "base/rfc3339.h"

enum { V1BETA3 = 1, V1BETA4 = 2 };

/* Fields that are no option of a join, or that have a form of their own in the file. */
static const struct yaml_field without_option[] = {
    {"apiVersion", YAML_FIELD_TEXT, 0, NULL},
    {"kind", YAML_FIELD_TEXT, 0, NULL},
    {"nodeRegistration.taints[].key", YAML_FIELD_TEXT, 0, NULL},
    {"nodeRegistration.taints[].value", YAML_FIELD_TEXT, 0, NULL},
    {"nodeRegistration.taints[].effect", YAML_FIELD_TEXT, 0, NULL},
    {"nodeRegistration.taints[].timeAdded", YAML_FIELD_TIME, 0, NULL},
    {"nodeRegistration.kubeletExtraArgs[].name", YAML_FIELD_TEXT, V1BETA4, NULL},
    {"nodeRegistration.kubeletExtraArgs[].value", YAML_FIELD_TEXT, V1BETA4, NULL},
    {"nodeRegistration.imagePullPolicy", YAML_FIELD_TEXT, 0, NULL},
    {"nodeRegistration.imagePullSerial", YAML_FIELD_BOOL, V1BETA4, NULL},
    {"nodeRegistration.kubeletExtraArgs", YAML_FIELD_TEXT_MAP, V1BETA3, NULL},
    {"discovery.timeout", YAML_FIELD_DURATION, V1BETA3, "timeouts.discovery"},
    {"controlPlane.localAPIEndpoint.advertiseAddress", YAML_FIELD_TEXT, 0, NULL},
    {"controlPlane.localAPIEndpoint.bindPort", YAML_FIELD_NUMBER, 0, NULL},
    {"controlPlane.certificateKey", YAML_FIELD_TEXT, 0, NULL},
    {"timeouts.controlPlaneComponentHealthCheck", YAML_FIELD_DURATION, V1BETA4, NULL},
    {"timeouts.etcdAPICall", YAML_FIELD_DURATION, V1BETA4, NULL},
    {"timeouts.upgradeManifests", YAML_FIELD_DURATION, V1BETA4, NULL},
    {0},
};

void join_configuration_fields(struct yaml_field ret[JOIN_CONFIGURATION_FIELDS_MAX]) {
    size_t n = 0;

    join_each_option(o)
        if (o->join)
            ret[n++] =
                (struct yaml_field){o->join, join_option_yaml(o), o->v1beta4 ? V1BETA4 : 0, NULL};
    memcpy(ret + n, without_option, sizeof without_option);
}

unsigned join_configuration_version(const char *api_version) {
    if (text_equal(api_version, JOIN_CONFIGURATION_V1BETA3))
        return V1BETA3;
    return text_equal(api_version, JOIN_CONFIGURATION_V1BETA4) ? V1BETA4 : 0;
}

/* ---- conversion of v1beta3 to v1beta4 ---- */

void join_configuration_renew(json_t *configuration, struct yaml *yaml) {
    json_t *node = json_object_get(configuration, "nodeRegistration"),
           *discovery = json_object_get(configuration, "discovery"),
           *args = json_object_get(node, "kubeletExtraArgs"),
           *timeout = json_object_get(discovery, "timeout");

    json_object_set_new(configuration, "apiVersion", json_string(JOIN_CONFIGURATION_V1BETA4));
    if (json_is_object(args)) {
        _cleanup_(text_list_free) struct text_list names = {0};
        json_t *list = json_array();

        json_sorted_keys(args, &names);
        for (size_t i = 0; i < names.count; i++) {
            const json_t *value = json_object_get(args, names.items[i]);
            const char *text = json_string_value(value);
            json_t *item =
                json_pack("{s:s, s:s}", "name", names.items[i], "value", text ? text : "");

            yaml_pass_on(yaml, value, item);
            json_array_append_new(list, item);
        }
        yaml_pass_on(yaml, args, list);
        json_object_set_new(node, "kubeletExtraArgs", list);
    }
    if (json_is_string(timeout))
        json_object_set(json_object_in(configuration, "timeouts"), "discovery", timeout);
    json_object_del(discovery, "timeout");
}

/* ---- defaults ---- */

static void default_text(json_t *object, const char *key, const char *value) {
    const char *given = json_string_value(json_object_get(object, key));

    if (value && (!given || !*given))
        json_object_set_new(object, key, json_string(value));
}

/* Deletes empty values, as Go's omitempty does. Empty taints and imagePullSerial stay. */
static void omit_empty(json_t *value) {
    const char *key;
    json_t *item;
    void *next;
    size_t i;

    json_array_foreach(value, i, item) {
        if (json_is_null(item))
            json_array_set_new(value, i, json_string(""));
        omit_empty(json_array_get(value, i));
    }
    json_object_foreach_safe(value, next, key, item) {
        bool is_empty = json_is_null(item) || json_is_false(item) ||
                        (json_is_string(item) && !json_string_length(item)) ||
                        (json_is_array(item) && !json_array_size(item));

        omit_empty(item);
        if (is_empty && !text_equal(key, "taints") && !text_equal(key, "imagePullSerial"))
            json_object_del(value, key);
    }
}

/* Writes given durations as Go does, and fills kubeadm's defaults for missing ones. */
static void default_timeouts(json_t *timeouts) {
    static const struct {
        const char *name, *value;
    } defaults[] = {{"controlPlaneComponentHealthCheck", "4m0s"},
                    {"kubeletHealthCheck", "4m0s"},
                    {"kubernetesAPICall", "1m0s"},
                    {"etcdAPICall", "2m0s"},
                    {"tlsBootstrap", "5m0s"},
                    {"discovery", "5m0s"},
                    {"upgradeManifests", "5m0s"}};
    const char *key;
    json_t *value;
    void *next;

    json_object_foreach_safe(timeouts, next, key, value) {
        char text[GO_DURATION_TEXT_MAX];
        int64_t nanoseconds;

        if (go_duration_read(json_string_value(value), &nanoseconds, NULL) == 0) {
            go_duration_format(nanoseconds, text);
            json_object_set_new(timeouts, key, json_string(text));
        }
    }
    for (size_t i = 0; i < ARRAY_SIZE(defaults); i++)
        default_text(timeouts, defaults[i].name, defaults[i].value);
}

static void default_node(json_t *node) {
    const char *name = json_text_at(node, "name"), *socket;
    _cleanup_(freep) char *read = name ? join_node_name_read(name) : NULL, *url = NULL;

    if (read)
        json_object_set_new(node, "name", json_string(read));
    default_text(node, "criSocket", "npipe:////./pipe/containerd-containerd");
    socket = json_text_at(node, "criSocket");
    if (!text_starts_with(socket, "npipe:")) {
        url = xasprintf("npipe://%s", socket);
        json_object_set_new(node, "criSocket", json_string(url));
    }
    default_text(node, "imagePullPolicy", "IfNotPresent");
    if (!json_is_boolean(json_object_get(node, "imagePullSerial")))
        json_object_set_new(node, "imagePullSerial", json_true());
    if (!json_object_get(node, "taints"))
        json_object_set_new(node, "taints", json_null());
    /* Writes times as Go's metav1.Time does: UTC, whole seconds. */
    json_each(json_object_get(node, "taints"), i, item) {
        const char *given = json_text_at(item, "timeAdded");
        int64_t seconds;

        if (given && rfc3339_parse(given, &seconds, NULL) == 0)
            json_object_set_new(item, "timeAdded", json_string(RFC3339_TEXT(seconds)));
    }
    /* kubeadm writes a value for every argument, even an empty value. */
    json_each(json_object_get(node, "kubeletExtraArgs"), i, item)
        if (json_is_object(item) && !json_is_string(json_object_get(item, "value")))
            json_object_set_new(item, "value", json_string(""));
}

void join_configuration_default(json_t *configuration) {
    json_t *discovery;
    const char *file;

    omit_empty(configuration);
    discovery = json_object_in(configuration, "discovery");
    file = json_text_at(discovery, "file.kubeConfigPath");
    if (file) {
        _cleanup_(freep) char *read = join_discovery_file_path(file);
        const char *path = text_starts_with(read, "https:") ? file : read;

        json_put(discovery, "file.kubeConfigPath", json_string(path));
    }
    default_text(configuration, "caCertPath", "C:/etc/kubernetes/pki/ca.crt");
    default_text(discovery, "tlsBootstrapToken", json_text_at(discovery, "bootstrapToken.token"));
    default_node(json_object_in(configuration, "nodeRegistration"));

    default_timeouts(json_object_in(configuration, "timeouts"));
}
