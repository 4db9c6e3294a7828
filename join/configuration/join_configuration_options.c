/* Copies values between a JoinConfiguration and the options of a join: flags and environment into
 * the document before it is checked, then the other values from the document into the options. */
#include "base/log.h"
#include "join/configuration/join_configuration.h"
#include "join/configuration/kubelet_arguments.h"

/* ---- from the options into the document ---- */

/* Overwrites a secret before it is replaced, because the place marks of its file keep the text in
 * memory until the end. */
static void forget_text(json_t *value) {
    if (json_is_string(value))
        secret_wipe((char *)json_string_value(value), json_string_length(value));
}

static bool is_given(const char *text) {
    return text && *text;
}

void join_configuration_overlay(json_t **configuration, const struct join_options *options) {
    bool made = !*configuration, own = is_given(options->discovery_token);
    const char *token = own ? options->discovery_token : options->token;

    if (made && !options->endpoint && !options->discovery_file)
        return;
    if (made)
        *configuration = json_pack("{s:s, s:s}", "apiVersion", JOIN_CONFIGURATION_V1BETA4, "kind",
                                   JOIN_CONFIGURATION_KIND);
    join_each_option(o) {
        json_t *value = o->join ? join_option_json(options, o) : NULL;
        json_t *listed = o->adds ? json_at(*configuration, o->join) : NULL;

        if (value && listed) {
            listed = json_copy(listed);
            json_array_extend(listed, value);
            json_decref(value);
            value = listed;
        }
        if (value && o->type == OPTION_SECRET)
            forget_text(json_at(*configuration, o->join));
        if (value)
            json_put(*configuration, o->join, value);
    }
    /* Without an endpoint, kubeadm ignores what flags say about discovery by token. */
    if (made && !options->endpoint) {
        forget_text(json_at(*configuration, "discovery.bootstrapToken.token"));
        json_object_del(json_object_get(*configuration, "discovery"), "bootstrapToken");
    }

    /* --token (and winjoin's --token-file) is the discovery token where that is not given. The
     * token of the TLS bootstrap is by default the discovery token, and only without one --token
     * (as in kubeadm 1.37). */
    if (!is_given(token))
        return;
    if (!own && json_is_object(json_at(*configuration, "discovery.bootstrapToken"))) {
        forget_text(json_at(*configuration, "discovery.bootstrapToken.token"));
        json_put(*configuration, "discovery.bootstrapToken.token", json_string(token));
    }
    if (!is_given(json_text_at(*configuration, "discovery.tlsBootstrapToken")))
        json_put(*configuration, "discovery.tlsBootstrapToken", json_string(token));
}

void join_configuration_forget(json_t *configuration) {
    join_each_option(o)
        if (o->join && o->type == OPTION_SECRET)
            forget_text(json_at(configuration, o->join));
}

/* ---- from the document into the options ---- */

void join_configuration_apply(const json_t *configuration, struct join_options *options,
                              struct text_list *warnings) {
    _cleanup_(text_free) struct text taints = {0};

    join_each_option(o) {
        const json_t *value = o->join ? json_at(configuration, o->join) : NULL;
        /* The list is used only for an option that collects values. */
        struct text_list *list = join_option_field(options, o);

        if (!o->join)
            continue;
        if (o->type == OPTION_SECRET && is_given(json_string_value(value)))
            log_hide_secret(json_string_value(value));
        if (!o->adds)
            join_option_take(options, o, value);
        else
            json_each(value, i, item)
                if (json_is_string(item) && !text_list_has(list, json_string_value(item)))
                    text_list_add(list, json_string_value(item));
    }

    /* The form of the kubelet's --register-with-taints (Taint.ToString of k8s.io/api/core/v1). An
     * empty list means no taints. */
    json_each(json_at(configuration, "nodeRegistration.taints"), i, item) {
        const char *value = json_text_or(item, "value", "");

        text_addf(&taints, "%s%s%s%s:%s", i ? "," : "", json_text_at(item, "key"),
                  *value ? "=" : "", value, json_text_at(item, "effect"));
    }
    if (taints.len && !is_given(options->register_with_taints))
        text_set(&options->register_with_taints, text_take(&taints));
    json_each(json_at(configuration, "nodeRegistration.kubeletExtraArgs"), i, item)
        kubelet_argument_take(json_text_at(item, "name"), json_text_or(item, "value", ""), options,
                              warnings);

    /* Names and paths are read as kubeadm reads them, also those from flags. */
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
