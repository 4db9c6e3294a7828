/* What a join is told: applying a NodeConfiguration, the checks that need nothing else. */
#include "join/join_options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rfc3339.h"

void join_options_free(struct join_options *o) {
    char **texts[] = {&o->endpoint,
                      &o->config,
                      &o->cri_socket,
                      &o->discovery_file,
                      &o->node_name,
                      &o->patches,
                      &o->token_file,
                      &o->network_mode,
                      &o->network_plugin,
                      &o->network_name,
                      &o->adapter,
                      &o->pod_cidr,
                      &o->node_ip,
                      &o->kubernetes_version,
                      &o->bundle,
                      &o->mirror,
                      &o->kube_proxy,
                      &o->dsr,
                      &o->verify,
                      &o->tls_bootstrap,
                      &o->node_labels,
                      &o->register_with_taints,
                      &o->external_ip,
                      &o->external_name,
                      &o->external_dns,
                      &o->dual_stack,
                      &o->lock,
                      &o->ca_cert_path,
                      &o->image_pull_policy};
    struct text_list *lists[] = {&o->discovery_token_ca_cert_hash,
                                 &o->ignore_preflight_errors,
                                 &o->skip_phases,
                                 &o->exclude_from_nat,
                                 &o->service_cidrs,
                                 &o->kubelet_service_args,
                                 &o->kubelet_extra_args};

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        freep(texts[i]);
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
        text_list_free(lists[i]);
    secret_freep(&o->token);
    secret_freep(&o->discovery_token);
    secret_freep(&o->tls_bootstrap_token);
}

/* The fields of a NodeConfiguration that winjoin knows, each with where it goes. */
enum field_type { FIELD_TEXT, FIELD_NUMBER, FIELD_FIRST_OF_LIST, FIELD_LIST };
static const struct field {
    const char *path;
    enum field_type type;
    size_t offset;
} fields[] = {
    {"network.mode", FIELD_TEXT, offsetof(struct join_options, network_mode)},
    {"network.plugin", FIELD_TEXT, offsetof(struct join_options, network_plugin)},
    {"network.name", FIELD_TEXT, offsetof(struct join_options, network_name)},
    {"network.adapter", FIELD_TEXT, offsetof(struct join_options, adapter)},
    {"network.vni", FIELD_NUMBER, offsetof(struct join_options, vni)},
    {"network.vxlanPort", FIELD_NUMBER, offsetof(struct join_options, vxlan_port)},
    {"network.podCIDRs", FIELD_FIRST_OF_LIST, offsetof(struct join_options, pod_cidr)},
    {"network.excludeFromNAT", FIELD_LIST, offsetof(struct join_options, exclude_from_nat)},
    {"kubeProxy.run", FIELD_TEXT, offsetof(struct join_options, kube_proxy)},
    {"kubeProxy.dsr", FIELD_TEXT, offsetof(struct join_options, dsr)},
    {"artifacts.kubernetesVersion", FIELD_TEXT, offsetof(struct join_options, kubernetes_version)},
    {"artifacts.bundle", FIELD_TEXT, offsetof(struct join_options, bundle)},
    {"artifacts.mirror", FIELD_TEXT, offsetof(struct join_options, mirror)},
    {"verify.level", FIELD_TEXT, offsetof(struct join_options, verify)},
    {"verify.external.ip", FIELD_TEXT, offsetof(struct join_options, external_ip)},
    {"verify.external.name", FIELD_TEXT, offsetof(struct join_options, external_name)},
    {"verify.external.dns", FIELD_TEXT, offsetof(struct join_options, external_dns)},
};

static const struct field *field_at(const char *path) {
    for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
        if (text_equal(fields[i].path, path))
            return &fields[i];
    return NULL;
}

static bool is_parent(const char *path) {
    size_t len = strlen(path);

    for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
        if (strncmp(fields[i].path, path, len) == 0 && fields[i].path[len] == '.')
            return true;
    return false;
}

static int wrong_type(const char *what, const char *path, const char *wanted, struct error *err) {
    return error_set(err, ERROR_USAGE, "%s: %s: must be %s", what, path, wanted);
}

static int set_text(char **field, const char *what, const char *path, const json_t *value,
                    struct error *err) {
    if (!json_is_string(value))
        return wrong_type(what, path, "a text", err);
    if (!*field)
        *field = xstrdup(json_string_value(value));
    return 0;
}

static int set_list(struct text_list *list, const char *what, const char *path, const json_t *value,
                    struct error *err) {
    const json_t *item;
    bool take = list->count == 0;
    size_t i;

    if (!json_is_array(value))
        return wrong_type(what, path, "a list", err);
    json_array_foreach(value, i, item) {
        if (!json_is_string(item))
            return wrong_type(what, path, "a list of texts", err);
        if (take)
            text_list_add(list, json_string_value(item));
    }
    return 0;
}

static int set_field(struct join_options *options, const struct field *field, const char *what,
                     const json_t *value, struct error *err) {
    void *place = (char *)options + field->offset;

    switch (field->type) {
    case FIELD_TEXT:
        return set_text(place, what, field->path, value, err);
    case FIELD_NUMBER:
        if (!json_is_integer(value) || json_integer_value(value) < 0)
            return wrong_type(what, field->path, "a number", err);
        if (!*(long long *)place)
            *(long long *)place = json_integer_value(value);
        return 0;
    case FIELD_LIST:
        return set_list(place, what, field->path, value, err);
    case FIELD_FIRST_OF_LIST:
        if (!json_is_array(value) || json_array_size(value) > 1)
            return wrong_type(what, field->path, "a list of one", err);
        return json_array_size(value)
                   ? set_text(place, what, field->path, json_array_get(value, 0), err)
                   : 0;
    }
    return 0;
}

static int apply_object(struct join_options *options, const json_t *object, const char *prefix,
                        const char *what, struct error *err) {
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)object, key, value) {
        _cleanup_(freep) char *path = *prefix ? xasprintf("%s.%s", prefix, key) : xstrdup(key);
        const struct field *field = field_at(path);
        int result = 0;

        if (!*prefix && (text_equal(key, "apiVersion") || text_equal(key, "kind") ||
                         text_equal(key, "metadata")))
            continue;
        if (field)
            result = set_field(options, field, what, value, err);
        else if (is_parent(path) && json_is_object(value))
            result = apply_object(options, value, path, what, err);
        else
            return error_set(err, ERROR_USAGE, "%s: unknown field \"%s\"", what, path);
        if (result < 0)
            return -1;
    }
    return 0;
}

int join_options_apply(struct join_options *options, const json_t *node_configuration,
                       const char *what, struct error *err) {
    const char *version = json_text_at(node_configuration, "apiVersion");

    if (!json_is_object(node_configuration) ||
        !text_equal(json_text_at(node_configuration, "kind"), "NodeConfiguration") ||
        !text_equal(version, "winjoin.io/v1alpha1"))
        return error_set(err, ERROR_USAGE, "%s: not a NodeConfiguration of winjoin.io/v1alpha1",
                         what);
    return apply_object(options, node_configuration, "", what, err);
}

/* What the table of flags promises and this build does not do yet is refused, never ignored. */
static int check_supported(const struct join_options *o, struct error *err) {
    const struct {
        const char *flag;
        bool given;
    } later[] = {{"config", o->config != NULL},
                 {"patches", o->patches != NULL},
                 {"mirror", o->mirror != NULL},
                 {"kubernetes-version", o->kubernetes_version != NULL},
                 {"tls-bootstrap kubelet", text_equal(o->tls_bootstrap, "kubelet")}};

    for (size_t i = 0; i < ARRAY_SIZE(later); i++)
        if (later[i].given)
            return error_set(err, ERROR_USAGE, "use --%s: this version of winjoin cannot do it yet",
                             later[i].flag);
    return 0;
}

int join_options_check(const struct join_options *options, struct error *err) {
    if (check_supported(options, err) < 0)
        return -1;
    if (options->ignore_preflight_errors.count > 1 &&
        text_list_has(&options->ignore_preflight_errors, "all"))
        return error_set(
            err, ERROR_USAGE,
            "ignore-preflight-errors: don't specify individual checks if 'all' is used");
    return 0;
}
