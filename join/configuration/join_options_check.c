/* Values of options, from a document or a call, before anything is asked. */
#include "base/nearest.h"
#include "join/configuration/join_options.h"
#include "netsetup/agents/agent.h"

/* "what: line 3 column 4: path: Invalid value:", or the flag's name where there is no text. */
static char *place_of(const char *what, const struct yaml_node *node,
                      const struct join_option *option, const char *path) {
    return node ? xasprintf("%s: line %zu column %zu: %s: Invalid value:", what, yaml_line(node),
                            yaml_column(node), path)
           : option->flag ? xasprintf("--%s", option->flag)
                          : xstrdup_null(path);
}

static size_t most_of_a_family(const json_t *prefixes) {
    size_t count[2] = {0};

    json_each(prefixes, i, prefix) {
        const char *text = json_string_value(prefix);

        count[text && strchr(text, ':')]++;
    }
    return count[0] > count[1] ? count[0] : count[1];
}

static int check_text(const struct join_option *o, const char *text, const char *place,
                      struct error *err) {
    struct error why = {0};

    if (o->check(text, &why) == 0)
        return 0;
    (void)error_set(err, why.kind == ERROR_UNSUPPORTED ? why.kind : ERROR_USAGE, "%s %s", place,
                    why.message);
    return *why.hints[0] ? error_hint(err, "%s", why.hints[0]) : -1;
}

static int check_list(const struct join_option *o, const json_t *list, const struct yaml_node *node,
                      const char *what, struct error *err) {
    json_each(list, i, item) {
        const char *text = json_is_string(item) ? json_string_value(item) : "";
        _cleanup_(freep) char *path = xasprintf("%s[%zu]", o->node, i);
        _cleanup_(freep) char *place = place_of(what, node ? yaml_item(node, i) : NULL, o, path);

        if (check_text(o, text, place, err) < 0)
            return -1;
    }
    return 0;
}

int join_option_check(const struct join_option *o, const json_t *value,
                      const struct yaml_node *node, const char *what, struct error *err) {
    const char *text = json_string_value(value);
    long long number = json_integer_value(value);
    _cleanup_(freep) char *place = place_of(what, node, o, o->node);

    if (o->type == OPTION_CHOICE && !o->check && text && choice_check(o->choices, text, err) < 0)
        return error_prefix(err, "%s \"%.60s\"", place, text);
    if (o->type == OPTION_NUMBER && o->max && (number < o->min || number > o->max))
        return error_set(err, ERROR_USAGE, "%s %lld: must be between %lld and %lld", place, number,
                         o->min, o->max);
    if (o->type == OPTION_LIST && o->max && most_of_a_family(value) > (size_t)o->max)
        return error_set(err, ERROR_USAGE,
                         "%s %zu prefixes of one family: Windows supports one per node", place,
                         most_of_a_family(value));
    if (o->type == OPTION_DURATION && text && *text && !strpbrk(text, "123456789"))
        return error_set(err, ERROR_USAGE, "%s \"%.60s\": must be more than 0", place, text);
    if (!o->check)
        return 0;
    return json_is_array(value) ? check_list(o, value, node, what, err)
           : text && *text      ? check_text(o, text, place, err)
                                : 0;
}

int join_network_check(const struct join_options *o, struct error *err) {
    const struct network_agent *agent = network_agent_by_plugin(o->network_plugin);
    struct network_input input;

    join_network_input(o, &input);
    if (network_input_check(&input, err) < 0)
        return error_as(err, ERROR_USAGE);
    if (agent && agent->in_cluster && text_equal(o->kube_proxy, "service"))
        return error_set(err, ERROR_USAGE,
                         "kube-proxy cannot be a service with network plugin '%s': the cluster "
                         "brings its own",
                         agent->plugin);
    return 0;
}

int join_options_check(const struct join_options *options, struct error *err) {
    join_each_option(o) {
        bool judged = o->check || o->type == OPTION_CHOICE || o->max;
        _cleanup_json_ json_t *value = judged ? join_option_json(options, o) : NULL;

        if (value && join_option_check(o, value, NULL, NULL, err) < 0)
            return -1;
    }
    if (join_ignored_check(&options->ignore_preflight_errors, err) < 0)
        return error_prefix(err, "--ignore-preflight-errors");
    return join_network_check(options, err);
}
