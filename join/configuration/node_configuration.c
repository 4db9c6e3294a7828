/* NodeConfiguration: reading it, its values, and its way into the options and out of them. */
#include "join/configuration/node_configuration.h"

#include "base/nearest.h"
#include "base/rfc3339.h"
#include "netsetup/agents/agent.h"

/* What may stand there, too, and says nothing to a join. */
static const struct yaml_field without_option[] = {
    {"apiVersion", YAML_FIELD_TEXT, 0, NULL},
    {"kind", YAML_FIELD_TEXT, 0, NULL},
    {"services.kubeProxy", YAML_FIELD_EMPTY, 0, NULL},
    {"services.containerd", YAML_FIELD_EMPTY, 0, NULL},
    {"services.flanneld", YAML_FIELD_EMPTY, 0, NULL},
};

/* ---- values ---- */

/* "what: line 3 column 4: path: Invalid value:", or the flag's name where there is no text. */
static char *place_of(const char *what, const struct yaml_node *node,
                      const struct join_option *option, const char *path) {
    return node ? xasprintf("%s: line %zu column %zu: %s: Invalid value:", what, yaml_line(node),
                            yaml_column(node), path)
           : option->flag ? xasprintf("--%s", option->flag)
                          : xstrdup(path);
}

static int check_prefix(const char *text, struct error *err) {
    struct cidr cidr;

    return cidr_parse(text, &cidr, NULL) == 0
               ? 0
               : error_set(err, ERROR_USAGE, "\"%.60s\": not a prefix like 10.244.0.0/16", text);
}

static size_t most_of_a_family(const json_t *prefixes) {
    size_t count[2] = {0}, i;
    json_t *prefix;

    json_array_foreach(prefixes, i, prefix) {
        const char *text = json_string_value(prefix);
        count[text && strchr(text, ':')]++;
    }
    return count[0] > count[1] ? count[0] : count[1];
}

/* Lists of this document are lists of prefixes, but for those that have a check of their own. */
static int check_list(const struct join_option *f, const json_t *list, const struct yaml_node *node,
                      const char *what, struct error *err) {
    int (*check)(const char *text, struct error *err) = f->check ? f->check : check_prefix;

    json_each(list, i, item) {
        const char *text = json_is_string(item) ? json_string_value(item) : "";
        _cleanup_(freep) char *path = xasprintf("%s[%zu]", f->node, i), *place = NULL;
        struct error why = {0};

        if (check(text, &why) == 0)
            continue;
        place = place_of(what, node ? yaml_item(node, i) : NULL, f, path);
        return error_set(err, ERROR_USAGE, "%s %s", place, why.message);
    }
    return 0;
}

static int check_value(const struct join_option *f, const json_t *value,
                       const struct yaml_node *node, const char *what, struct error *err) {
    const char *text = json_string_value(value);
    long long number = json_integer_value(value);
    _cleanup_(freep) char *place = place_of(what, node, f, f->node);
    struct error why = {0};

    if (f->type == OPTION_CHOICE && text && choice_check(f->choices, text, err) < 0)
        return error_prefix(err, "%s \"%.60s\"", place, text);
    if (f->type == OPTION_NUMBER && (number < f->min || number > f->max))
        return error_set(err, ERROR_USAGE, "%s %lld: must be between %lld and %lld", place, number,
                         f->min, f->max);
    if (f->type == OPTION_LIST && f->max && most_of_a_family(value) > (size_t)f->max)
        return error_set(err, ERROR_USAGE,
                         "%s %zu prefixes of one family: Windows supports one per node", place,
                         most_of_a_family(value));
    if (f->type == OPTION_DURATION && text && *text && !strpbrk(text, "123456789"))
        return error_set(err, ERROR_USAGE, "%s \"%.60s\": must be more than 0", place, text);
    if (f->check && text && *text && f->check(text, &why) < 0) {
        (void)error_set(err, why.kind == ERROR_UNSUPPORTED ? why.kind : ERROR_USAGE, "%s %s", place,
                        why.message);
        return *why.hints[0] ? error_hint(err, "%s", why.hints[0]) : -1;
    }
    return json_is_array(value) ? check_list(f, value, node, what, err) : 0;
}

/* Values that are right alone may not work together. */
static int check_network(const json_t *configuration, const struct yaml_node *node,
                         const char *what, struct error *err) {
    const struct yaml_node *at;
    _cleanup_(join_options_free) struct join_options o = {0};
    const struct network_agent *agent;
    struct network_input input;
    int result;

    node_configuration_apply(configuration, &o);
    join_network_input(&o, &input);
    result = network_input_check(&input, err);
    agent = network_agent_by_plugin(o.network_plugin);
    if (result == 0 && agent && agent->in_cluster && text_equal(o.kube_proxy, "service"))
        result = error_set(err, ERROR_USAGE,
                           "kube-proxy cannot be a service with network plugin '%s': the cluster "
                           "brings its own",
                           agent->plugin);
    at = node ? yaml_at(node, "network") : NULL;
    if (result < 0)
        (void)error_as(err, ERROR_USAGE);
    if (result < 0 && at) /* flags are named by the message */
        (void)error_prefix(err, "%s: line %zu column %zu: network", what, yaml_line(at),
                           yaml_column(at));
    return result;
}

int node_configuration_check(const json_t *configuration, const struct yaml_node *node,
                             const char *what, struct error *err) {
    join_each_option(o) {
        const json_t *value = o->node ? json_at(configuration, o->node) : NULL;
        const struct yaml_node *at = node && o->node ? yaml_at(node, o->node) : NULL;

        if (value && !json_is_null(value) && check_value(o, value, at, what, err) < 0)
            return -1;
    }
    return check_network(configuration, node, what, err);
}

int node_configuration_of(const struct yaml_node *node, const char *what, json_t **ret,
                          struct error *err) {
    struct yaml_field all[ARRAY_SIZE(without_option) + JOIN_OPTION_COUNT + 1] = {0};
    size_t n = ARRAY_SIZE(without_option);
    _cleanup_json_ json_t *json = NULL;

    memcpy(all, without_option, sizeof without_option);
    join_each_option(o)
        if (o->node)
            all[n++] = (struct yaml_field){o->node, join_option_yaml(o), 0, NULL};
    if (yaml_schema_check(node, all, 0, what, err) < 0)
        return -1;
    json = yaml_to_json(node);
    if (node_configuration_check(json, node, what, err) < 0)
        return -1;
    *ret = take_ptr(json);
    return 0;
}

int node_configuration_read(const char *text, size_t len, const char *what, json_t **ret,
                            struct error *err) {
    _cleanup_(yaml_documents_freep) struct yaml_documents *documents = NULL;
    const struct yaml_node *node;

    if (yaml_parse(text, len, what, &documents, err) < 0)
        return error_as(err, ERROR_USAGE);
    node = yaml_document(documents, 0);
    if (yaml_documents_count(documents) != 1 ||
        !text_equal(yaml_text_at(node, "kind"), NODE_CONFIGURATION_KIND) ||
        !text_equal(yaml_text_at(node, "apiVersion"), NODE_CONFIGURATION_V1ALPHA1))
        return error_set(err, ERROR_USAGE, "%s: not one %s of %s", what, NODE_CONFIGURATION_KIND,
                         NODE_CONFIGURATION_V1ALPHA1);
    return node_configuration_of(node, what, ret, err);
}

int node_configuration_check_cluster(const json_t *configuration, const char *what,
                                     struct error *err) {
    static const char *const of_the_machine[] = {"artifacts.bundle", "artifacts.catalog",
                                                 "artifacts.lock"};

    for (size_t i = 0; i < ARRAY_SIZE(of_the_machine); i++) {
        if (!json_at(configuration, of_the_machine[i]))
            continue;
        (void)error_set(err, ERROR_USAGE,
                        "%s: %s: names a file of the server; the cluster may not choose one", what,
                        of_the_machine[i]);
        return error_hint(err,
                          "take it out of the cluster's defaults (winjoin config cluster "
                          "makes them again), and give it on each server: a flag, or --config");
    }
    return 0;
}

/* ---- into the options ---- */

void node_configuration_apply(const json_t *configuration, struct join_options *options) {
    join_each_option(o)
        if (o->node)
            join_option_take(options, o, json_at(configuration, o->node));
}

/* ---- out of the options ---- */

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
