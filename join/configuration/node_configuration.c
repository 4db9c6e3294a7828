/* NodeConfiguration: one table of its fields, with where each of them goes. */
#include "join/configuration/node_configuration.h"

#include "base/nearest.h"
#include "base/rfc3339.h"
#include "base/vxlan.h"
#include "join/configuration/node_targets.h"
#include "netsetup/agents/agent.h"

static const struct node_field fields[] = {
#define ROW(path, type, flag, option, choices, min, max, check, what)                              \
    {                                                                                              \
        {path, YAML_FIELD_##type, 0, NULL}, flag, offsetof(struct join_options, option), choices,  \
            min, max, check, what                                                                  \
    }
#define TEXT(path, flag, option, check) ROW(path, TEXT, flag, option, NULL, 0, 0, check, NULL)
#define CHOICE(path, flag, option, choices) ROW(path, TEXT, flag, option, choices, 0, 0, NULL, NULL)
#define NUMBER(path, flag, option, min, max)                                                       \
    ROW(path, NUMBER, flag, option, NULL, min, max, NULL, NULL)
#define NO_FLAG(path, type, option, choices, check, what)                                          \
    ROW(path, type, NULL, option, choices, 0, 0, check, what)
    TEXT("network.mode", "--network-mode", network_mode, network_mode_check),
    TEXT("network.plugin", "--network-plugin", network_plugin, network_plugin_check),
    TEXT("network.name", "--network-name", network_name, node_line_check),
    TEXT("network.adapter", "--adapter", adapter, node_line_check),
    NUMBER("network.vni", "--vni", vni, VXLAN_WINDOWS_VNI_MIN, VXLAN_VNI_MAX),
    NUMBER("network.vxlanPort", "--vxlan-port", vxlan_port, 1, 65535),
    ROW("network.podCIDRs", TEXTS, "--pod-cidr", pod_cidrs, NULL, 0, 1, NULL, NULL),
    NO_FLAG("network.serviceCIDRs", TEXTS, service_cidrs, NULL, NULL,
            "prefixes of Services (default: the cluster's)"),
    NO_FLAG("network.excludeFromNAT", TEXTS, exclude_from_nat, NULL, NULL,
            "prefixes that pods reach with their own address"),
    NO_FLAG("network.dualStack", TEXT, dual_stack, "auto|on|off", NULL,
            "IPv6 beside IPv4; auto: where the cluster has both"),
    CHOICE("network.routes", "--routes", routes, "own|print|none"),
    CHOICE("kubeProxy.run", "--kube-proxy", kube_proxy, "service|none"),
    CHOICE("kubeProxy.dsr", "--dsr", dsr, "auto|on|off"),
    TEXT("artifacts.kubernetesVersion", "--kubernetes-version", kubernetes_version,
         join_kubernetes_version_check),
    TEXT("artifacts.bundle", "--bundle", bundle, node_line_check),
    TEXT("artifacts.mirror", "--mirror", mirror, join_mirror_check),
    TEXT("artifacts.sourceBase", "--source-base", source_base, join_source_base_check),
    TEXT("artifacts.catalog", "--catalog", catalog, node_line_check),
    TEXT("artifacts.sandboxImage", "--sandbox-image", sandbox_image, join_sandbox_image_check),
    NO_FLAG("artifacts.lock", TEXT, lock, NULL, node_line_check,
            "lock file of this machine, instead of that of bundle, mirror or upstream"),
    CHOICE("verify.level", "--verify", verify, "full|node|none"),
    TEXT("verify.external.ip", "--external-ip", external_ip, node_target_address_check),
    TEXT("verify.external.name", "--external-name", external_name, node_target_name_check),
    TEXT("verify.external.dns", "--external-dns", external_dns, node_target_address_check),
    NO_FLAG("verify.timeout", DURATION, verify_timeout, NULL, NULL,
            "time limit of one attempt of a flow"),
    NO_FLAG("services.kubelet.extraArgs", TEXTS, kubelet_service_args, NULL, node_argument_check,
            "arguments of the kubelet, each \"--name=value\""),
};

/* What may stand there, too, and says nothing to a join. */
static const struct yaml_field without_option[] = {
    {"apiVersion", YAML_FIELD_TEXT, 0, NULL},
    {"kind", YAML_FIELD_TEXT, 0, NULL},
    {"services.kubeProxy", YAML_FIELD_EMPTY, 0, NULL},
    {"services.containerd", YAML_FIELD_EMPTY, 0, NULL},
    {"services.flanneld", YAML_FIELD_EMPTY, 0, NULL},
};

const struct node_field *node_configuration_field(size_t i) {
    return i < ARRAY_SIZE(fields) ? &fields[i] : NULL;
}

/* ---- values ---- */

/* "what: line 3 column 4: path: Invalid value:", or the flag's name where there is no text. */
static char *place_of(const char *what, const struct yaml_node *node,
                      const struct node_field *field, const char *path) {
    return node ? xasprintf("%s: line %zu column %zu: %s: Invalid value:", what, yaml_line(node),
                            yaml_column(node), path)
                : xstrdup(field->flag ? field->flag : field->yaml.path);
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
static int check_list(const struct node_field *f, const json_t *list, const struct yaml_node *node,
                      const char *what, struct error *err) {
    int (*check)(const char *text, struct error *err) = f->check ? f->check : check_prefix;

    json_each(list, i, item) {
        const char *text = json_is_string(item) ? json_string_value(item) : "";
        _cleanup_(freep) char *path = xasprintf("%s[%zu]", f->yaml.path, i), *place = NULL;
        struct error why = {0};

        if (check(text, &why) == 0)
            continue;
        place = place_of(what, node ? yaml_item(node, i) : NULL, f, path);
        return error_set(err, ERROR_USAGE, "%s %s", place, why.message);
    }
    return 0;
}

static int check_value(const struct node_field *f, const json_t *value,
                       const struct yaml_node *node, const char *what, struct error *err) {
    const char *text = json_string_value(value);
    long long number = json_integer_value(value);
    _cleanup_(freep) char *place = place_of(what, node, f, f->yaml.path);
    struct error why = {0};

    if (f->choices && text && choice_check(f->choices, text, err) < 0)
        return error_prefix(err, "%s \"%.60s\"", place, text);
    if (f->yaml.type == YAML_FIELD_NUMBER && (number < f->min || number > f->max))
        return error_set(err, ERROR_USAGE, "%s %lld: must be between %lld and %lld", place, number,
                         f->min, f->max);
    if (f->yaml.type == YAML_FIELD_TEXTS && f->max && most_of_a_family(value) > (size_t)f->max)
        return error_set(err, ERROR_USAGE,
                         "%s %zu prefixes of one family: Windows supports one per node", place,
                         most_of_a_family(value));
    if (f->yaml.type == YAML_FIELD_DURATION && text && *text && !strpbrk(text, "123456789"))
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
    for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
        const json_t *value = json_at(configuration, fields[i].yaml.path);

        const struct yaml_node *at = node ? yaml_at(node, fields[i].yaml.path) : NULL;

        if (value && !json_is_null(value) && check_value(&fields[i], value, at, what, err) < 0)
            return -1;
    }
    return check_network(configuration, node, what, err);
}

int node_configuration_of(const struct yaml_node *node, const char *what, json_t **ret,
                          struct error *err) {
    struct yaml_field all[ARRAY_SIZE(without_option) + ARRAY_SIZE(fields) + 1] = {0};
    _cleanup_json_ json_t *json = NULL;

    memcpy(all, without_option, sizeof without_option);
    for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
        all[ARRAY_SIZE(without_option) + i] = fields[i].yaml;
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
    for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
        join_option_take(options, fields[i].offset, fields[i].yaml.type,
                         json_at(configuration, fields[i].yaml.path));
}

/* ---- out of the options ---- */

json_t *node_configuration_make(const struct join_options *options) {
    json_t *configuration = json_pack("{s:s, s:s}", "apiVersion", NODE_CONFIGURATION_V1ALPHA1,
                                      "kind", NODE_CONFIGURATION_KIND);

    for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
        json_t *value = join_option_json(options, fields[i].offset, fields[i].yaml.type);

        if (value)
            json_put(configuration, fields[i].yaml.path, value);
    }
    return configuration;
}
