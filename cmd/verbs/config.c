/* winjoin config: checks, converts and prints configuration files. It also prints the manifest that
 * a cluster needs once, and the routes to the pods of its nodes. */
#include "base/nearest.h"
#include "cmd/program.h"
#include "join/configuration/cluster_config.h"
#include "join/configuration/join_configuration.h"
#include "join/found/need.h"
#include "join/kubelet/kubelet_files.h"
#include "join/run.h"
#include "kube/node.h"
#include "netsetup/agents/agent.h"
#include "netsetup/routes/fabric_routes.h"
#include "templates/templates.h"

/* Checks a configuration file in the way a join checks it before its first network request. */
static int validate(struct program *program, struct error *err) {
    struct join_options *o = &program->options.join;
    struct join join = {.host = program->host, .asked = o};
    _cleanup_(config_file_free) struct config_file file = {0};
    _cleanup_(text_list_free) struct text_list warnings = {0};
    int result;

    if (!o->config || !*o->config) {
        (void)error_set(err, ERROR_USAGE, "the --config flag is mandatory");
        return error_hint(err, "winjoin config validate --config FILE");
    }
    if (program_read_config(program, o->config, CONFIG_KNOWN, &file, err) < 0 ||
        program_check_file(program, &file, err) < 0)
        return -1;
    if (file.join)
        join_configuration_apply(file.join, o, &warnings);
    if (file.node)
        node_configuration_apply(file.node, o);
    program_settle_paths(o);
    join_each_option(row) {
        char **path = row->is_path ? join_option_field(o, row) : NULL;
        _cleanup_(freep) char *data = NULL;
        struct error why = {0};
        size_t len;

        /* The path may be on a drive that only the nodes have, so the file is not checked here. */
        if (path && *path && host_read(join.host, *path, 1, &data, &len, &why) < 0 &&
            why.kind == ERROR_UNSUPPORTED)
            freep(path);
    }
    result = find_options(&join, err) < 0 ? -1 : join_asked_check(&join, err);
    join_close(&join);
    if (result == 0)
        output_text(program, "ok\n");
    return result;
}

/* Prints documents as YAML. With -o json one document is printed as it is, several as kubectl's
 * List. Tokens are not hidden, since the text comes from the caller's own file. */
static int print_documents(const struct program *program, const char *text, size_t len,
                           struct error *err) {
    _cleanup_(yaml_forget) struct yaml yaml = {0};
    _cleanup_(secret_freep) char *json = NULL;
    _cleanup_json_ json_t *list = NULL;

    if (!text_equal(program->options.output, "json")) {
        output_bytes(text, len);
        return 0;
    }
    if (yaml_read(text, len, "the configuration", &yaml, err) < 0)
        return -1;
    list =
        json_pack("{s:s, s:s, s:O}", "apiVersion", "v1", "kind", "List", "items", yaml.documents);
    json = json_write_pretty(
        json_array_size(yaml.documents) == 1 ? json_array_get(yaml.documents, 0) : list);
    output_bytes(json, strlen(json));
    return 0;
}

/* Does what kubeadm config migrate does: reads, completes, checks and writes the file. */
static int migrate(struct program *program, struct error *err) {
    const struct program_options *o = &program->options;
    _cleanup_(config_file_free) struct config_file file = {0};
    _cleanup_(secret_freep) char *text = NULL;
    _cleanup_(freep) char *to = NULL, *join = NULL, *node = NULL;

    if (!o->old_config || !*o->old_config) {
        (void)error_set(err, ERROR_USAGE, "the --old-config flag is mandatory");
        return error_hint(err, "winjoin config migrate --old-config FILE");
    }
    if ((o->new_config && output_path(program, "--new-config", o->new_config, &to, err) < 0) ||
        program_read_config(program, o->old_config, CONFIG_KNOWN, &file, err) < 0 ||
        (file.join && join_configuration_check(file.join, &file.yaml, program->host, err) < 0))
        return -1;
    if (file.join)
        join_configuration_default(file.join);
    join = file.join ? yaml_write(file.join) : xstrdup("");
    node = file.node ? yaml_write(file.node) : xstrdup("");
    text = xasprintf("%s%s%s", join, *join && *node ? "---\n" : "", node);
    if (!to)
        return print_documents(program, text, strlen(text), err);
    /* The file may hold a token. */
    return host_write(program->host, to, text, strlen(text), HOST_SECRET, err);
}

/* Prints a template, or a schema by its name. "schema" without a name lists the schemas. */
static int print(struct program *program, struct error *err) {
    const char *what = program->words.items[1];
    const char *name = program->words.count > 2 ? program->words.items[2] : NULL;
    bool is_schema = text_equal(what, "schema");
    _cleanup_(freep) char *file = xasprintf("%s.yaml", what), *text = NULL;
    _cleanup_(text_list_free) struct text_list names = {0}, of = {0};
    _cleanup_json_ json_t *schema = is_schema && name ? schema_make(name) : NULL;
    const struct template *template = template_find(file);

    if (!is_schema && name)
        return error_set(err, ERROR_USAGE, "unexpected argument \"%.60s\"", name);
    if (!is_schema) {
        text = xstrndup((const char *)template->data, template->len);
        if (text_equal(what, "join-defaults")) {
            _cleanup_(freep) char *node = schema_commented(NODE_CONFIGURATION_KIND);

            text_set(&text, xasprintf("%s%s", text, node));
        }
        return print_documents(program, text, strlen(text), err);
    }
    if (schema) {
        text = json_write_pretty(schema);
        return print_documents(program, text, strlen(text), err);
    }
    schema_names(&names, &of);
    for (size_t i = 0; !name && i < names.count; i++)
        output_format(program, "%-26s %s\n", names.items[i], of.items[i]);
    if (!name)
        return 0;
    (void)error_set(err, ERROR_USAGE, "there is no document \"%.60s\"", name);
    return nearest_hint(err, "winjoin config print schema ", name, (const char *const *)names.items,
                        names.count);
}

/* Reads the network's settings from the cluster. *ret_searched describes a network of the cluster
 * that winjoin does not know by name; NULL when the cluster has no such network.
 * *ret_dns_namespace is the namespace of the DNS Service; NULL when it is not known. The caller
 * frees both. */
static int ask_cluster(struct program *program, char **ret_searched, char **ret_dns_namespace,
                       struct error *err) {
    struct join_options *o = &program->options.join;
    _cleanup_(kube_client_close) struct kube_client client = {0};
    _cleanup_(cluster_config_free) struct cluster_config cluster = {0};
    const struct agent_settings *network = &cluster.network;
    struct error why = {0};

    if (given_cluster_open(program, NULL, &client, err) < 0 ||
        cluster_config_read(&client, 0, NULL, &cluster, err) < 0)
        return -1;
    /* A join has too few rights to search for a network that has no known name, so the manifest
     * names that network for later joins. */
    if (cluster_network_search(&client, &cluster.network, &why) < 0) {
        if (!kube_is_forbidden(&why))
            return error_pass(err, &why);
        output_warning("whether the cluster has a network that winjoin does not know by name was "
                       "not looked at: %s",
                       why.message);
    }
    *ret_dns_namespace = take_ptr(cluster.dns_namespace);
    if (network->linux_agent == &linux_agent_unknown)
        *ret_searched = xstrdup_null(network->linux_set);
    if (network->linux_agent && !o->network_plugin && !o->network_mode)
        output_warning("the cluster's pods use %s (%s), %s: joins are refused; %s",
                       network->linux_agent->title, network->linux_set,
                       network->linux_agent->windows,
                       linux_agent_remedy(network->linux_agent, network->linux_set));
    if (network->agent && !o->network_plugin)
        o->network_plugin = xstrdup(network->agent->plugin);
    return 0;
}

static int cluster(struct program *program, struct error *err) {
    struct join_options *o = &program->options.join;
    _cleanup_(config_file_free) struct config_file file = {0};
    _cleanup_(freep) char *text = NULL, *searched = NULL, *dns_namespace = NULL;
    _cleanup_json_ json_t *configuration = NULL, *objects = NULL;

    if (o->config && program_read_config(program, o->config, CONFIG_JOIN, &file, err) < 0)
        return -1;
    if (file.node)
        node_configuration_apply(file.node, o);
    if (program->options.kubeconfig && ask_cluster(program, &searched, &dns_namespace, err) < 0)
        return -1;
    configuration = node_configuration_make(o);
    if (join_options_check(o, err) < 0 ||
        node_configuration_check_cluster(configuration, "the cluster's defaults", err) < 0)
        return -1;
    objects = cluster_manifest_make(configuration, searched, dns_namespace);
    text = cluster_manifest_text(objects);
    output_text(program, text);
    output_result(program, json_pack("{s:s, s:s, s:O}", "apiVersion", "v1", "kind", "List", "items",
                                     objects));
    return 0;
}

static int routes(struct program *program, struct error *err) {
    const struct program_options *o = &program->options;
    const struct fabric_place place = {o->resource_group, o->route_table, o->network};
    _cleanup_(text_list_free) struct text_list left_out = {0};
    _cleanup_json_ json_t *nodes = NULL, *list = NULL;
    _cleanup_(freep) char *text = NULL;
    _cleanup_(kube_client_close) struct kube_client client = {0};

    if (fabric_place_check(&place, err) < 0 ||
        (o->kubeconfig && given_cluster_open(program, NULL, &client, err) < 0))
        return -1;
    if (!o->kubeconfig && kube_client_open_file(program->http, program->host,
                                                KUBELET_KUBECONFIG_FILE, &client, err) < 0)
        return error_hint(err, "this machine is not a node: use --kubeconfig FILE");
    if (kube_nodes_get(&client, &nodes, err) < 0)
        return -1;
    list = fabric_routes_of_nodes(nodes, NULL, &left_out);
    for (size_t i = 0; i < left_out.count; i++)
        output_warning("no route was printed: %s", left_out.items[i]);
    text = fabric_routes_text(list, o->output ? o->output : "text", &place, 0);
    if (strstr(text, "--instance-id INSTANCE_ID"))
        output_warning("some Nodes have no providerID: put its id in place of INSTANCE_ID");
    output_text(program, text);
    output_result(program, json_pack("{s:s, s:s, s:O, s:o}", JSON_DOCUMENT("RouteList"), "routes",
                                     list, "leftOut", json_texts(&left_out)));
    return 0;
}

int verb_config(struct program *program, struct error *err) {
    static const struct {
        const char *name;
        int (*run)(struct program *program, struct error *err);
    } actions[] = {{"validate", validate},
                   {"migrate", migrate},
                   {"print", print},
                   {"cluster", cluster},
                   {"routes", routes}};
    const struct text_list *words = &program->words;

    for (size_t i = 0; i < ARRAY_SIZE(actions); i++)
        if (text_equal(actions[i].name, words->items[0]))
            return actions[i].run(program, err);
    return -1;
}
