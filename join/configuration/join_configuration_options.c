/* Between a JoinConfiguration and the join's options, by one table: flags and environment go into
 * the document before it is checked, what they did not give comes out of it afterwards. */
#include "base/log.h"
#include "join/configuration/join_configuration.h"
#include "join/configuration/kubelet_arguments.h"

/* What is special: a secret, or a list to which flags add. */
enum place_kind { PLAIN, SECRET, ADDED };

static const struct place {
    const char *path;
    size_t offset;
    enum yaml_field_type type;
    enum place_kind kind;
} places[] = {
#define AT(field) offsetof(struct join_options, field)
    {"nodeRegistration.name", AT(node_name), YAML_FIELD_TEXT, PLAIN},
    {"nodeRegistration.criSocket", AT(cri_socket), YAML_FIELD_TEXT, PLAIN},
    {"nodeRegistration.ignorePreflightErrors", AT(ignore_preflight_errors), YAML_FIELD_TEXTS,
     ADDED},
    {"caCertPath", AT(ca_cert_path), YAML_FIELD_TEXT, PLAIN},
    {"discovery.bootstrapToken.apiServerEndpoint", AT(endpoint), YAML_FIELD_TEXT, PLAIN},
    {"discovery.bootstrapToken.token", AT(discovery_token), YAML_FIELD_TEXT, SECRET},
    {"discovery.bootstrapToken.caCertHashes", AT(discovery_token_ca_cert_hash), YAML_FIELD_TEXTS,
     PLAIN},
    {"discovery.bootstrapToken.unsafeSkipCAVerification",
     AT(discovery_token_unsafe_skip_ca_verification), YAML_FIELD_BOOL, PLAIN},
    {"discovery.file.kubeConfigPath", AT(discovery_file), YAML_FIELD_TEXT, PLAIN},
    {"discovery.tlsBootstrapToken", AT(tls_bootstrap_token), YAML_FIELD_TEXT, SECRET},
    {"skipPhases", AT(skip_phases), YAML_FIELD_TEXTS, PLAIN},
    {"patches.directory", AT(patches), YAML_FIELD_TEXT, PLAIN},
    {"timeouts.kubeletHealthCheck", AT(timeouts.kubelet_health_check), YAML_FIELD_DURATION, PLAIN},
    {"timeouts.kubernetesAPICall", AT(timeouts.kubernetes_api_call), YAML_FIELD_DURATION, PLAIN},
    {"timeouts.tlsBootstrap", AT(timeouts.tls_bootstrap), YAML_FIELD_DURATION, PLAIN},
    {"timeouts.discovery", AT(timeouts.discovery), YAML_FIELD_DURATION, PLAIN},
    {"dryRun", AT(dry_run), YAML_FIELD_BOOL, PLAIN},
};

/* ---- options into the document ---- */

static void forget_text(json_t *value) {
    if (json_is_string(value))
        secret_wipe((char *)json_string_value(value), json_string_length(value));
}

/* The secret that is replaced is overwritten: the marks of its file keep it until the end. */
static void put(json_t *configuration, const char *path, json_t *value, bool secret) {
    if (secret)
        forget_text(json_at(configuration, path));
    json_put(configuration, path, value);
}

static bool is_given(const char *text) {
    return text && *text;
}

/* --token, and winjoin's --token-file, where the token for discovery is not given; the one for TLS
 * bootstrap is by default that for discovery, before --token (kubeadm 1.37 sets it so). */
static void put_token(json_t *configuration, const struct join_options *options) {
    bool own = is_given(options->discovery_token);
    const char *token = own ? options->discovery_token : options->token;

    if (!is_given(token))
        return;
    if (!own && json_is_object(json_at(configuration, "discovery.bootstrapToken")))
        put(configuration, "discovery.bootstrapToken.token", json_string(token), true);
    if (!is_given(json_text_at(configuration, "discovery.tlsBootstrapToken")))
        json_put(configuration, "discovery.tlsBootstrapToken", json_string(token));
}

void join_configuration_overlay(json_t **configuration, const struct join_options *options) {
    bool made = !*configuration;

    if (made && !options->endpoint && !options->discovery_file)
        return;
    if (made)
        *configuration = json_pack("{s:s, s:s}", "apiVersion", JOIN_CONFIGURATION_V1BETA4, "kind",
                                   JOIN_CONFIGURATION_KIND);
    for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
        const struct place *p = &places[i];
        json_t *value = join_option_json(options, p->offset, p->type);
        json_t *listed = p->kind == ADDED ? json_at(*configuration, p->path) : NULL;

        if (value && listed) {
            listed = json_copy(listed);
            json_array_extend(listed, value);
            json_decref(value);
            value = listed;
        }
        if (value)
            put(*configuration, p->path, value, p->kind == SECRET);
    }
    /* without an endpoint kubeadm drops what flags say of the token way */
    if (made && !options->endpoint) {
        forget_text(json_at(*configuration, "discovery.bootstrapToken.token"));
        json_object_del(json_object_get(*configuration, "discovery"), "bootstrapToken");
    }
    put_token(*configuration, options);
}

void join_configuration_forget(json_t *configuration) {
    for (size_t i = 0; i < ARRAY_SIZE(places); i++)
        if (places[i].kind == SECRET)
            forget_text(json_at(configuration, places[i].path));
}

/* ---- the document into the options ---- */

static void take(const struct place *p, const json_t *value, struct join_options *options) {
    struct text_list *list = (void *)((char *)options + p->offset);

    if (p->kind == SECRET && is_given(json_string_value(value)))
        log_hide_secret(json_string_value(value));
    if (p->kind != ADDED)
        join_option_take(options, p->offset, p->type, value);
    else
        json_each(value, i, item)
            if (json_is_string(item) && !text_list_has(list, json_string_value(item)))
                text_list_add(list, json_string_value(item));
}

/* The form of the kubelet's --register-with-taints (corev1 Taint.ToString): an empty list asks for
 * none. */
static void take_taints(const json_t *taints, struct join_options *options) {
    _cleanup_(text_free) struct text all = {0};
    _cleanup_json_ json_t *form = NULL;

    json_each(taints, i, item) {
        const char *value = json_text_at(item, "value");

        text_addf(&all, "%s%s%s%s:%s", i ? "," : "", json_text_at(item, "key"),
                  value && *value ? "=" : "", value ? value : "", json_text_at(item, "effect"));
    }
    form = json_string(text_str(&all));
    join_option_take(options, AT(register_with_taints), YAML_FIELD_TEXT, form);
}

static void take_args(const json_t *args, struct join_options *options,
                      struct text_list *warnings) {
    json_each(args, i, item)
        kubelet_argument_take(json_text_at(item, "name"), json_text_or(item, "value", ""), options,
                              warnings);
}

/* Names and paths as kubeadm reads them, whoever gave them. */
static void settle(struct join_options *options, struct text_list *warnings) {
    if (options->node_name && !*options->node_name)
        freep(&options->node_name);
    if (options->cri_socket && !*options->cri_socket)
        freep(&options->cri_socket);
    if (options->node_name)
        text_set(&options->node_name, join_node_name_read(options->node_name));
    if (options->discovery_file)
        text_set(&options->discovery_file, join_discovery_file_path(options->discovery_file));
    if (options->cri_socket && !text_starts_with(options->cri_socket, "npipe:")) {
        text_set(&options->cri_socket, xasprintf("npipe://%s", options->cri_socket));
        text_list_add_owned(warnings,
                            xasprintf("criSocket without its URL scheme is deprecated: using %s",
                                      options->cri_socket));
    }
}

void join_configuration_apply(const json_t *configuration, struct join_options *options,
                              struct text_list *warnings) {
    for (size_t i = 0; i < ARRAY_SIZE(places); i++)
        take(&places[i], json_at(configuration, places[i].path), options);
    take_taints(json_at(configuration, "nodeRegistration.taints"), options);
    take_args(json_at(configuration, "nodeRegistration.kubeletExtraArgs"), options, warnings);
    settle(options, warnings);
}
