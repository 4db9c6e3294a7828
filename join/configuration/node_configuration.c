/* Reads a NodeConfiguration, checks its values, and converts it to options and back. */
#include "join/configuration/join_configuration.h"

/* Fields that a NodeConfiguration may have and that a join does not use. */
static const struct yaml_field without_option[] = {
    {"apiVersion", YAML_FIELD_TEXT, 0, NULL},
    {"kind", YAML_FIELD_TEXT, 0, NULL},
    {"services.kubeProxy", YAML_FIELD_EMPTY, 0, NULL},
    {"services.containerd", YAML_FIELD_EMPTY, 0, NULL},
    {"services.flanneld", YAML_FIELD_EMPTY, 0, NULL},
};

int node_configuration_check(const struct yaml *yaml, const json_t *document, struct error *err) {
    struct yaml_field all[ARRAY_SIZE(without_option) + JOIN_OPTION_COUNT + 1] = {0};
    _cleanup_(join_options_free) struct join_options options = {0};
    const struct yaml_place *at;
    size_t n = ARRAY_SIZE(without_option);

    memcpy(all, without_option, sizeof without_option);
    join_each_option(o)
        if (o->node)
            all[n++] = (struct yaml_field){o->node, join_option_yaml(o), 0, NULL};
    if (yaml_schema_check(yaml, document, all, 0, err) < 0)
        return -1;
    join_each_option(o) {
        const json_t *value = o->node ? json_at(document, o->node) : NULL;

        if (value && !json_is_null(value) && join_option_check(o, value, yaml, document, err) < 0)
            return -1;
    }
    node_configuration_apply(document, &options);
    if (join_network_check(&options, err) == 0)
        return 0;
    at = yaml_place(yaml, document, "network");
    return json_object_get(document, "network")
               ? error_prefix(err, "%s: line %zu column %zu: network", yaml->what, at->line,
                              at->column)
               : -1;
}

int node_configuration_read(const char *text, size_t len, const char *what, json_t **ret,
                            struct error *err) {
    _cleanup_(yaml_forget) struct yaml yaml = {0};
    json_t *document;

    if (yaml_read(text, len, what, &yaml, err) < 0)
        return error_as(err, ERROR_USAGE);
    document = json_array_get(yaml.documents, 0);
    if (json_array_size(yaml.documents) != 1 ||
        !text_equal(json_text_at(document, "kind"), NODE_CONFIGURATION_KIND) ||
        !text_equal(json_text_at(document, "apiVersion"), NODE_CONFIGURATION_V1ALPHA1))
        return error_set(err, ERROR_USAGE, "%s: not one %s of %s", what, NODE_CONFIGURATION_KIND,
                         NODE_CONFIGURATION_V1ALPHA1);
    if (node_configuration_check(&yaml, document, err) < 0)
        return -1;
    *ret = json_incref(document);
    return 0;
}

int node_configuration_check_cluster(const json_t *configuration, const char *what,
                                     struct error *err) {
    join_each_option(o) {
        if (!o->is_path || !o->node || !json_at(configuration, o->node))
            continue;
        (void)error_set(err, ERROR_USAGE,
                        "%s: %s: names a file of the server; the cluster may not choose one", what,
                        o->node);
        return error_hint(err,
                          "take it out of the cluster's defaults (winjoin config cluster "
                          "makes them again), and give it on each server: a flag, or --config");
    }
    return 0;
}

/* ---- from a NodeConfiguration to options ---- */

void node_configuration_apply(const json_t *configuration, struct join_options *options) {
    join_each_option(o)
        if (o->node)
            join_option_take(options, o, json_at(configuration, o->node));
}

/* ---- from options to a NodeConfiguration ---- */

json_t *node_configuration_make(const struct join_options *options) {
    json_t *configuration = json_pack("{s:s, s:s}", "apiVersion", NODE_CONFIGURATION_V1ALPHA1,
                                      "kind", NODE_CONFIGURATION_KIND);

    join_each_option(o) {
        json_t *value = o->node ? join_option_json(options, o) : NULL;

        if (value)
            json_put(configuration, o->node, value);
    }
    return configuration;
}
