/* Between a JoinConfiguration and the join's options, by one table: flags and environment go into
 * the document before it is checked, what they did not give comes out of it afterwards. */
#include "base/log.h"
#include "base/rfc3339.h"
#include "join/configuration/join_configuration.h"

enum place_type { AS_TEXT, AS_SECRET, AS_LIST, AS_UNION, AS_BOOL, AS_DURATION };

static const struct place {
    const char *path;
    enum place_type type;
    size_t offset;
} places[] = {
#define AT(field) offsetof(struct join_options, field)
    {"nodeRegistration.name", AS_TEXT, AT(node_name)},
    {"nodeRegistration.criSocket", AS_TEXT, AT(cri_socket)},
    {"nodeRegistration.ignorePreflightErrors", AS_UNION, AT(ignore_preflight_errors)},
    {"caCertPath", AS_TEXT, AT(ca_cert_path)},
    {"discovery.bootstrapToken.apiServerEndpoint", AS_TEXT, AT(endpoint)},
    {"discovery.bootstrapToken.token", AS_SECRET, AT(discovery_token)},
    {"discovery.bootstrapToken.caCertHashes", AS_LIST, AT(discovery_token_ca_cert_hash)},
    {"discovery.bootstrapToken.unsafeSkipCAVerification", AS_BOOL,
     AT(discovery_token_unsafe_skip_ca_verification)},
    {"discovery.file.kubeConfigPath", AS_TEXT, AT(discovery_file)},
    {"discovery.tlsBootstrapToken", AS_SECRET, AT(tls_bootstrap_token)},
    {"skipPhases", AS_LIST, AT(skip_phases)},
    {"patches.directory", AS_TEXT, AT(patches)},
    {"timeouts.kubeletHealthCheck", AS_DURATION, AT(timeouts.kubelet_health_check)},
    {"timeouts.kubernetesAPICall", AS_DURATION, AT(timeouts.kubernetes_api_call)},
    {"timeouts.tlsBootstrap", AS_DURATION, AT(timeouts.tls_bootstrap)},
    {"timeouts.discovery", AS_DURATION, AT(timeouts.discovery)},
    {"dryRun", AS_BOOL, AT(dry_run)},
#undef AT
};

/* ---- options into the document ---- */

static json_t *union_of(const json_t *listed, const struct text_list *given) {
    json_t *all = json_array();

    json_array_extend(all, (json_t *)listed);
    for (size_t i = 0; i < given->count; i++)
        json_array_append_new(all, json_string(given->items[i]));
    return all;
}

/* NULL when the option is not given. */
static json_t *value_of(const struct place *p, const struct join_options *options,
                        const json_t *given) {
    const void *place = (const char *)options + p->offset;
    const struct text_list *list = place;
    const char *text = p->type == AS_TEXT || p->type == AS_SECRET ? *(char *const *)place : NULL;

    switch (p->type) {
    case AS_TEXT:
    case AS_SECRET:
        return text && *text ? json_string(text) : NULL; /* an empty one counts as not given */
    case AS_LIST:
        return list->count ? json_texts(list) : NULL;
    case AS_UNION:
        return list->count ? union_of(given, list) : NULL;
    case AS_BOOL:
        return *(const bool *)place ? json_true() : NULL;
    case AS_DURATION:
        return NULL; /* no flag of kubeadm's */
    }
    return NULL;
}

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
        json_t *value = value_of(p, options, json_at(*configuration, p->path));

        if (value)
            put(*configuration, p->path, value, p->type == AS_SECRET);
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
        if (places[i].type == AS_SECRET)
            forget_text(json_at(configuration, places[i].path));
}

/* ---- the document into the options ---- */

static void take_text(char **field, const char *text, bool secret) {
    if ((*field && **field) || !text || !*text)
        return;
    free(*field);
    *field = xstrdup(text);
    if (secret)
        log_hide_secret(text);
}

static void take_list(struct text_list *list, const json_t *array, bool all) {
    if (list->count && !all)
        return;
    json_each(array, i, item) {
        const char *text = json_string_value(item);

        if (text && !text_list_has(list, text))
            text_list_add(list, text);
    }
}

static void take(const struct place *p, const json_t *value, struct join_options *options) {
    void *place = (char *)options + p->offset;
    int64_t milliseconds;

    switch (p->type) {
    case AS_TEXT:
    case AS_SECRET:
        take_text(place, json_string_value(value), p->type == AS_SECRET);
        return;
    case AS_LIST:
    case AS_UNION:
        take_list(place, value, p->type == AS_UNION);
        return;
    case AS_BOOL:
        *(bool *)place |= json_is_true(value);
        return;
    case AS_DURATION:
        if (json_is_string(value) &&
            go_duration_parse(json_string_value(value), &milliseconds, NULL) == 0)
            *(long long *)place =
                milliseconds < JOIN_DURATION_MAX ? milliseconds : JOIN_DURATION_MAX;
        return;
    }
}

/* The form of the kubelet's --register-with-taints (corev1 Taint.ToString): an empty list asks for
 * none. */
static void take_taints(const json_t *taints, struct join_options *options) {
    _cleanup_(text_free) struct text all = {0};

    json_each(taints, i, item) {
        const char *value = json_text_at(item, "value");

        text_addf(&all, "%s%s%s%s:%s", i ? "," : "", json_text_at(item, "key"),
                  value && *value ? "=" : "", value ? value : "", json_text_at(item, "effect"));
    }
    take_text(&options->register_with_taints, text_str(&all), false);
}

static void take_args(const json_t *args, struct join_options *options) {
    json_each(args, i, item) {
        const char *value = json_text_at(item, "value");

        text_list_add_owned(&options->kubelet_extra_args,
                            xasprintf("%s=%s", json_text_at(item, "name"), value ? value : ""));
    }
}

/* Names and paths as kubeadm reads them, whoever gave them. */
static void settle(struct join_options *options, struct text_list *warnings) {
    char *read;

    if (options->node_name && !*options->node_name)
        freep(&options->node_name);
    if (options->cri_socket && !*options->cri_socket)
        freep(&options->cri_socket);
    if (options->node_name) {
        read = join_node_name_read(options->node_name);
        freep(&options->node_name);
        options->node_name = read;
    }
    if (options->discovery_file) {
        read = join_discovery_file_path(options->discovery_file);
        freep(&options->discovery_file);
        options->discovery_file = read;
    }
    if (options->cri_socket && !text_starts_with(options->cri_socket, "npipe:")) {
        read = xasprintf("npipe://%s", options->cri_socket);
        text_list_add_owned(
            warnings, xasprintf("criSocket without its URL scheme is deprecated: using %s", read));
        freep(&options->cri_socket);
        options->cri_socket = read;
    }
}

void join_configuration_apply(const json_t *configuration, struct join_options *options,
                              struct text_list *warnings) {
    for (size_t i = 0; i < ARRAY_SIZE(places); i++)
        take(&places[i], json_at(configuration, places[i].path), options);
    take_taints(json_at(configuration, "nodeRegistration.taints"), options);
    take_args(json_at(configuration, "nodeRegistration.kubeletExtraArgs"), options);
    settle(options, warnings);
}
