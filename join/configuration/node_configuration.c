/* NodeConfiguration: one table of fields, one of where each of them goes. */
#include "join/configuration/node_configuration.h"

#include "base/cidr.h"
#include "base/nearest.h"
#include "base/rfc3339.h"
#include "base/vxlan.h"
#include "base/yaml.h"
#include "join/configuration/flag_names.h"
#include "join/configuration/node_targets.h"
#include "netsetup/agents/agent.h"

const struct yaml_field node_configuration_fields[] = {
    {"apiVersion", YAML_FIELD_TEXT, 0, NULL},
    {"kind", YAML_FIELD_TEXT, 0, NULL},
    {"network.mode", YAML_FIELD_TEXT, 0, NULL},
    {"network.plugin", YAML_FIELD_TEXT, 0, NULL},
    {"network.name", YAML_FIELD_TEXT, 0, NULL},
    {"network.adapter", YAML_FIELD_TEXT, 0, NULL},
    {"network.vni", YAML_FIELD_NUMBER, 0, NULL},
    {"network.vxlanPort", YAML_FIELD_NUMBER, 0, NULL},
    {"network.podCIDRs", YAML_FIELD_TEXTS, 0, NULL},
    {"network.serviceCIDRs", YAML_FIELD_TEXTS, 0, NULL},
    {"network.excludeFromNAT", YAML_FIELD_TEXTS, 0, NULL},
    {"network.dualStack", YAML_FIELD_TEXT, 0, NULL},
    {"network.routes", YAML_FIELD_TEXT, 0, NULL},
    {"kubeProxy.run", YAML_FIELD_TEXT, 0, NULL},
    {"kubeProxy.dsr", YAML_FIELD_TEXT, 0, NULL},
    {"artifacts.kubernetesVersion", YAML_FIELD_TEXT, 0, NULL},
    {"artifacts.bundle", YAML_FIELD_TEXT, 0, NULL},
    {"artifacts.mirror", YAML_FIELD_TEXT, 0, NULL},
    {"artifacts.sourceBase", YAML_FIELD_TEXT, 0, NULL},
    {"artifacts.catalog", YAML_FIELD_TEXT, 0, NULL},
    {"artifacts.lock", YAML_FIELD_TEXT, 0, NULL},
    {"verify.level", YAML_FIELD_TEXT, 0, NULL},
    {"verify.external.ip", YAML_FIELD_TEXT, 0, NULL},
    {"verify.external.name", YAML_FIELD_TEXT, 0, NULL},
    {"verify.external.dns", YAML_FIELD_TEXT, 0, NULL},
    {"verify.timeout", YAML_FIELD_DURATION, 0, NULL},
    {"services.kubelet.extraArgs", YAML_FIELD_TEXTS, 0, NULL},
    {"services.kubeProxy", YAML_FIELD_EMPTY, 0, NULL},
    {"services.containerd", YAML_FIELD_EMPTY, 0, NULL},
    {"services.flanneld", YAML_FIELD_EMPTY, 0, NULL},
    {0},
};

/* Where each field goes, and which values it takes where not all do ("a|b|c", a range, or what a
 * function says). */
typedef int check_text(const char *text, struct error *err);
enum target_type { TO_TEXT, TO_CHOICE, TO_NUMBER, TO_DURATION, TO_LIST };
static const struct target {
    const char *path;
    enum target_type type;
    size_t offset;
    const char *choices;
    long long min, max;
    check_text *check;
} targets[] = {
#define AT(field) offsetof(struct join_options, field)
    {"network.mode", TO_TEXT, AT(network_mode), NULL, 0, 0, network_mode_check},
    {"network.plugin", TO_TEXT, AT(network_plugin), NULL, 0, 0, network_plugin_check},
    {"network.name", TO_TEXT, AT(network_name), NULL, 0, 0, node_line_check},
    {"network.adapter", TO_TEXT, AT(adapter), NULL, 0, 0, node_line_check},
    {"network.vni", TO_NUMBER, AT(vni), NULL, VXLAN_WINDOWS_VNI_MIN, VXLAN_VNI_MAX, NULL},
    {"network.vxlanPort", TO_NUMBER, AT(vxlan_port), NULL, 1, 65535, NULL},
    {"network.podCIDRs", TO_LIST, AT(pod_cidrs), NULL, 0, 1, NULL},
    {"network.serviceCIDRs", TO_LIST, AT(service_cidrs), NULL, 0, 0, NULL},
    {"network.excludeFromNAT", TO_LIST, AT(exclude_from_nat), NULL, 0, 0, NULL},
    {"network.dualStack", TO_CHOICE, AT(dual_stack), "auto|on|off", 0, 0, NULL},
    {"network.routes", TO_CHOICE, AT(routes), "own|print|none", 0, 0, NULL},
    {"kubeProxy.run", TO_CHOICE, AT(kube_proxy), "service|none", 0, 0, NULL},
    {"kubeProxy.dsr", TO_CHOICE, AT(dsr), "auto|on|off", 0, 0, NULL},
    {"artifacts.kubernetesVersion", TO_TEXT, AT(kubernetes_version), NULL, 0, 0,
     join_kubernetes_version_check},
    {"artifacts.bundle", TO_TEXT, AT(bundle), NULL, 0, 0, node_line_check},
    {"artifacts.mirror", TO_TEXT, AT(mirror), NULL, 0, 0, join_mirror_check},
    {"artifacts.sourceBase", TO_TEXT, AT(source_base), NULL, 0, 0, join_source_base_check},
    {"artifacts.catalog", TO_TEXT, AT(catalog), NULL, 0, 0, node_line_check},
    {"artifacts.lock", TO_TEXT, AT(lock), NULL, 0, 0, node_line_check},
    {"verify.level", TO_CHOICE, AT(verify), "full|node|none", 0, 0, NULL},
    {"verify.external.ip", TO_TEXT, AT(external_ip), NULL, 0, 0, node_target_address_check},
    {"verify.external.name", TO_TEXT, AT(external_name), NULL, 0, 0, node_target_name_check},
    {"verify.external.dns", TO_TEXT, AT(external_dns), NULL, 0, 0, node_target_address_check},
    {"verify.timeout", TO_DURATION, AT(verify_timeout), NULL, 0, 0, NULL},
    {"services.kubelet.extraArgs", TO_LIST, AT(kubelet_service_args), NULL, 0, 0,
     node_argument_check},
#undef AT
};

/* ---- values ---- */

/* "what: line 3 column 4: path: Invalid value:", or the flag's name where there is no text. */
static char *place_of(const char *what, const struct yaml_node *node, const char *path) {
    return node ? xasprintf("%s: line %zu column %zu: %s: Invalid value:", what, yaml_line(node),
                            yaml_column(node), path)
                : xstrdup(flag_name(path));
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
static int check_list(const struct target *t, const json_t *list, const struct yaml_node *node,
                      const char *what, struct error *err) {
    check_text *check = t->check ? t->check : check_prefix;

    json_each(list, i, item) {
        const char *text = json_is_string(item) ? json_string_value(item) : "";
        _cleanup_(freep) char *path = xasprintf("%s[%zu]", t->path, i), *place = NULL;
        struct error why = {0};

        if (check(text, &why) == 0)
            continue;
        place = place_of(what, node ? yaml_item(node, i) : NULL, path);
        return error_set(err, ERROR_USAGE, "%s %s", place, why.message);
    }
    return 0;
}

static int check_value(const struct target *t, const json_t *value, const struct yaml_node *node,
                       const char *what, struct error *err) {
    const char *text = json_string_value(value);
    long long number = json_integer_value(value);
    _cleanup_(freep) char *place = place_of(what, node, t->path);
    struct error why = {0};

    if (t->type == TO_CHOICE && text && choice_check(t->choices, text, err) < 0)
        return error_prefix(err, "%s \"%.60s\"", place, text);
    if (t->type == TO_NUMBER && (number < t->min || number > t->max))
        return error_set(err, ERROR_USAGE, "%s %lld: must be between %lld and %lld", place, number,
                         t->min, t->max);
    if (t->type == TO_LIST && t->max && most_of_a_family(value) > (size_t)t->max)
        return error_set(err, ERROR_USAGE,
                         "%s %zu prefixes of one family: Windows supports one per node", place,
                         most_of_a_family(value));
    if (t->type == TO_DURATION && text && *text && !strpbrk(text, "123456789"))
        return error_set(err, ERROR_USAGE, "%s \"%.60s\": must be more than 0", place, text);
    if (t->check && text && *text && t->check(text, &why) < 0) {
        (void)error_set(err, why.kind == ERROR_UNSUPPORTED ? why.kind : ERROR_USAGE, "%s %s", place,
                        why.message);
        return *why.hints[0] ? error_hint(err, "%s", why.hints[0]) : -1;
    }
    return json_is_array(value) ? check_list(t, value, node, what, err) : 0;
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
    if (result < 0 && err)
        err->kind = ERROR_USAGE;
    if (result < 0 && at) /* flags are named by the message */
        (void)error_prefix(err, "%s: line %zu column %zu: network", what, yaml_line(at),
                           yaml_column(at));
    return result;
}

int node_configuration_check(const json_t *configuration, const struct yaml_node *node,
                             const char *what, struct error *err) {
    for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
        const json_t *value = json_at(configuration, targets[i].path);

        const struct yaml_node *at = node ? yaml_at(node, targets[i].path) : NULL;

        if (value && !json_is_null(value) && check_value(&targets[i], value, at, what, err) < 0)
            return -1;
    }
    return check_network(configuration, node, what, err);
}

int node_configuration_read(const char *text, size_t len, const char *what, json_t **ret,
                            struct error *err) {
    _cleanup_(yaml_documents_freep) struct yaml_documents *documents = NULL;
    _cleanup_json_ json_t *json = NULL;
    const struct yaml_node *node;

    if (yaml_parse(text, len, what, &documents, err) < 0) {
        if (err)
            err->kind = ERROR_USAGE;
        return -1;
    }
    node = yaml_document(documents, 0);
    if (yaml_documents_count(documents) != 1 ||
        !text_equal(yaml_text_at(node, "kind"), NODE_CONFIGURATION_KIND) ||
        !text_equal(yaml_text_at(node, "apiVersion"), NODE_CONFIGURATION_V1ALPHA1))
        return error_set(err, ERROR_USAGE, "%s: not one %s of %s", what, NODE_CONFIGURATION_KIND,
                         NODE_CONFIGURATION_V1ALPHA1);
    if (yaml_schema_check(node, node_configuration_fields, 0, what, err) < 0)
        return -1;
    json = yaml_to_json(node);
    if (node_configuration_check(json, node, what, err) < 0)
        return -1;
    *ret = take_ptr(json);
    return 0;
}

/* ---- into the options ---- */

static void apply_text(char **field, const json_t *value) {
    const char *text = json_string_value(value);

    if (!*field && text && *text)
        *field = xstrdup(text);
}

static void apply(const struct target *t, const json_t *value, struct join_options *options) {
    void *place = (char *)options + t->offset;
    struct text_list *list = place;
    int64_t milliseconds;

    switch (t->type) {
    case TO_TEXT:
    case TO_CHOICE:
        apply_text(place, value);
        return;
    case TO_NUMBER:
        if (!*(long long *)place)
            *(long long *)place = json_integer_value(value);
        return;
    case TO_DURATION:
        if (!*(long long *)place && json_is_string(value) &&
            go_duration_parse(json_string_value(value), &milliseconds, NULL) == 0)
            *(long long *)place =
                milliseconds < JOIN_DURATION_MAX ? milliseconds : JOIN_DURATION_MAX;
        return;
    case TO_LIST:
        if (!list->count)
            json_read_texts(value, list);
        return;
    }
}

void node_configuration_apply(const json_t *configuration, struct join_options *options) {
    for (size_t i = 0; i < ARRAY_SIZE(targets); i++)
        apply(&targets[i], json_at(configuration, targets[i].path), options);
}

/* ---- out of the options ---- */

static json_t *duration_of(long long milliseconds) {
    _cleanup_(freep) char *text = xasprintf("%lldms", milliseconds);

    return milliseconds ? json_string(text) : NULL;
}

/* NULL when it is not given. */
static json_t *value_of(const struct target *t, const struct join_options *options) {
    const void *place = (const char *)options + t->offset;

    switch (t->type) {
    case TO_TEXT:
    case TO_CHOICE:
        return *(char *const *)place ? json_string(*(char *const *)place) : NULL;
    case TO_NUMBER:
        return *(const long long *)place ? json_integer(*(const long long *)place) : NULL;
    case TO_DURATION:
        return duration_of(*(const long long *)place);
    case TO_LIST:
        return ((const struct text_list *)place)->count ? json_texts(place) : NULL;
    }
    return NULL;
}

json_t *node_configuration_make(const struct join_options *options) {
    json_t *configuration = json_pack("{s:s, s:s}", "apiVersion", NODE_CONFIGURATION_V1ALPHA1,
                                      "kind", NODE_CONFIGURATION_KIND);

    for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
        json_t *value = value_of(&targets[i], options);

        if (value)
            json_put(configuration, targets[i].path, value);
    }
    return configuration;
}
