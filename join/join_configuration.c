/* JoinConfiguration: its fields by version, and what kubeadm makes of what is missing. */
#include "join/join_configuration.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static const struct yaml_field taint_fields[] = {
    {"key", YAML_FIELD_TEXT, NULL},
    {"value", YAML_FIELD_TEXT, NULL},
    {"effect", YAML_FIELD_TEXT, NULL},
    {"timeAdded", YAML_FIELD_TIME, NULL},
    {0},
};
static const struct yaml_field arg_fields[] = {
    {"name", YAML_FIELD_TEXT, NULL},
    {"value", YAML_FIELD_TEXT, NULL},
    {0},
};
static const struct yaml_field node_fields_v1beta3[] = {
    {"name", YAML_FIELD_TEXT, NULL},
    {"criSocket", YAML_FIELD_TEXT, NULL},
    {"taints", YAML_FIELD_OBJECTS, taint_fields},
    {"kubeletExtraArgs", YAML_FIELD_TEXT_MAP, NULL},
    {"ignorePreflightErrors", YAML_FIELD_TEXTS, NULL},
    {"imagePullPolicy", YAML_FIELD_TEXT, NULL},
    {0},
};
static const struct yaml_field node_fields_v1beta4[] = {
    {"name", YAML_FIELD_TEXT, NULL},
    {"criSocket", YAML_FIELD_TEXT, NULL},
    {"taints", YAML_FIELD_OBJECTS, taint_fields},
    {"kubeletExtraArgs", YAML_FIELD_OBJECTS, arg_fields},
    {"ignorePreflightErrors", YAML_FIELD_TEXTS, NULL},
    {"imagePullPolicy", YAML_FIELD_TEXT, NULL},
    {"imagePullSerial", YAML_FIELD_BOOL, NULL},
    {0},
};
static const struct yaml_field bootstrap_token_fields[] = {
    {"token", YAML_FIELD_TEXT, NULL},
    {"apiServerEndpoint", YAML_FIELD_TEXT, NULL},
    {"caCertHashes", YAML_FIELD_TEXTS, NULL},
    {"unsafeSkipCAVerification", YAML_FIELD_BOOL, NULL},
    {0},
};
static const struct yaml_field file_fields[] = {
    {"kubeConfigPath", YAML_FIELD_TEXT, NULL},
    {0},
};
static const struct yaml_field discovery_fields_v1beta3[] = {
    {"bootstrapToken", YAML_FIELD_OBJECT, bootstrap_token_fields},
    {"file", YAML_FIELD_OBJECT, file_fields},
    {"tlsBootstrapToken", YAML_FIELD_TEXT, NULL},
    {"timeout", YAML_FIELD_DURATION, NULL},
    {0},
};
static const struct yaml_field discovery_fields_v1beta4[] = {
    {"bootstrapToken", YAML_FIELD_OBJECT, bootstrap_token_fields},
    {"file", YAML_FIELD_OBJECT, file_fields},
    {"tlsBootstrapToken", YAML_FIELD_TEXT, NULL},
    {0},
};
static const struct yaml_field api_endpoint_fields[] = {
    {"advertiseAddress", YAML_FIELD_TEXT, NULL},
    {"bindPort", YAML_FIELD_NUMBER, NULL},
    {0},
};
static const struct yaml_field control_plane_fields[] = {
    {"localAPIEndpoint", YAML_FIELD_OBJECT, api_endpoint_fields},
    {"certificateKey", YAML_FIELD_TEXT, NULL},
    {0},
};
static const struct yaml_field patches_fields[] = {
    {"directory", YAML_FIELD_TEXT, NULL},
    {0},
};
static const struct yaml_field timeouts_fields[] = {
    {"controlPlaneComponentHealthCheck", YAML_FIELD_DURATION, NULL},
    {"kubeletHealthCheck", YAML_FIELD_DURATION, NULL},
    {"kubernetesAPICall", YAML_FIELD_DURATION, NULL},
    {"etcdAPICall", YAML_FIELD_DURATION, NULL},
    {"tlsBootstrap", YAML_FIELD_DURATION, NULL},
    {"discovery", YAML_FIELD_DURATION, NULL},
    {"upgradeManifests", YAML_FIELD_DURATION, NULL},
    {0},
};
static const struct yaml_field fields_v1beta3[] = {
    {"apiVersion", YAML_FIELD_TEXT, NULL},
    {"kind", YAML_FIELD_TEXT, NULL},
    {"nodeRegistration", YAML_FIELD_OBJECT, node_fields_v1beta3},
    {"caCertPath", YAML_FIELD_TEXT, NULL},
    {"discovery", YAML_FIELD_OBJECT, discovery_fields_v1beta3},
    {"controlPlane", YAML_FIELD_OBJECT, control_plane_fields},
    {"skipPhases", YAML_FIELD_TEXTS, NULL},
    {"patches", YAML_FIELD_OBJECT, patches_fields},
    {0},
};
static const struct yaml_field fields_v1beta4[] = {
    {"apiVersion", YAML_FIELD_TEXT, NULL},
    {"kind", YAML_FIELD_TEXT, NULL},
    {"dryRun", YAML_FIELD_BOOL, NULL},
    {"nodeRegistration", YAML_FIELD_OBJECT, node_fields_v1beta4},
    {"caCertPath", YAML_FIELD_TEXT, NULL},
    {"discovery", YAML_FIELD_OBJECT, discovery_fields_v1beta4},
    {"controlPlane", YAML_FIELD_OBJECT, control_plane_fields},
    {"skipPhases", YAML_FIELD_TEXTS, NULL},
    {"patches", YAML_FIELD_OBJECT, patches_fields},
    {"timeouts", YAML_FIELD_OBJECT, timeouts_fields},
    {0},
};

const struct yaml_field *join_configuration_fields(const char *api_version) {
    if (text_equal(api_version, JOIN_CONFIGURATION_V1BETA3))
        return fields_v1beta3;
    return text_equal(api_version, JOIN_CONFIGURATION_V1BETA4) ? fields_v1beta4 : NULL;
}

/* ---- v1beta3 to v1beta4 ---- */

/* The object at a key, made when there is none. */
static json_t *object_at(json_t *parent, const char *key) {
    if (!json_is_object(json_object_get(parent, key)))
        json_object_set_new(parent, key, json_object());
    return json_object_get(parent, key);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static json_t *args_of_map(const json_t *map) {
    size_t count = json_object_size(map), n = 0;
    _cleanup_(freep) const char **names = xcalloc(count + 1, sizeof *names);
    json_t *list = json_array(), *value;
    const char *key;

    json_object_foreach((json_t *)map, key, value) names[n++] = key;
    qsort(names, n, sizeof *names, by_name);
    for (size_t i = 0; i < n; i++) {
        const char *text = json_string_value(json_object_get(map, names[i]));

        json_array_append_new(list,
                              json_pack("{s:s, s:s}", "name", names[i], "value", text ? text : ""));
    }
    return list;
}

void join_configuration_renew(json_t *configuration) {
    json_t *node = json_object_get(configuration, "nodeRegistration"),
           *discovery = json_object_get(configuration, "discovery"),
           *args = json_object_get(node, "kubeletExtraArgs"),
           *timeout = json_object_get(discovery, "timeout");

    json_object_set_new(configuration, "apiVersion", json_string(JOIN_CONFIGURATION_V1BETA4));
    if (json_is_object(args))
        json_object_set_new(node, "kubeletExtraArgs", args_of_map(args));
    if (json_is_string(timeout))
        json_object_set(object_at(configuration, "timeouts"), "discovery", timeout);
    json_object_del(discovery, "timeout");
}

/* ---- defaults ---- */

/* kubeadm: GetHostname trims and lower-cases what the file or the flag says, too. */
char *join_node_name_read(const char *name) {
    size_t start = strspn(name, " \t\r\n\v\f"), len = strlen(name + start);
    _cleanup_(freep) char *trimmed = NULL;

    while (len && strchr(" \t\r\n\v\f", name[start + len - 1]))
        len--;
    trimmed = xstrndup(name + start, len);
    return text_lower(trimmed);
}

static void default_text(json_t *object, const char *key, const char *value) {
    const char *given = json_string_value(json_object_get(object, key));

    if (value && (!given || !*given))
        json_object_set_new(object, key, json_string(value));
}

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

    for (size_t i = 0; i < ARRAY_SIZE(defaults); i++)
        default_text(timeouts, defaults[i].name, defaults[i].value);
}

void join_configuration_default(json_t *configuration) {
    json_t *node = object_at(configuration, "nodeRegistration"),
           *discovery = object_at(configuration, "discovery");
    const char *token = json_text_at(discovery, "bootstrapToken.token"),
               *name = json_text_at(node, "name");
    _cleanup_(freep) char *read = name && *name ? join_node_name_read(name) : NULL;

    default_text(configuration, "caCertPath", "C:/etc/kubernetes/pki/ca.crt");
    default_text(discovery, "tlsBootstrapToken", token);
    if (read)
        json_object_set_new(node, "name", json_string(read));
    default_text(node, "criSocket", "npipe:////./pipe/containerd-containerd");
    default_text(node, "imagePullPolicy", "IfNotPresent");
    if (!json_is_boolean(json_object_get(node, "imagePullSerial")))
        json_object_set_new(node, "imagePullSerial", json_true());
    if (!json_object_get(node, "taints"))
        json_object_set_new(node, "taints", json_null());
    default_timeouts(object_at(configuration, "timeouts"));
}
