/* The manifest of `winjoin config cluster`. */
#include "join/configuration/cluster_manifest.h"

#include "base/yaml.h"
#include "netsetup/agents/external_agent.h"

#define RBAC "rbac.authorization.k8s.io"
#define NODES "system:nodes"
#define BOOTSTRAPPERS                                                                              \
    "system:bootstrappers:kubeadm:default-node-token" /* kubeadm's default group */

static json_t *metadata(const char *name, const char *name_space) {
    return json_pack("{s:s, s:s*}", "name", name, "namespace", name_space);
}

static json_t *group(const char *name) {
    return json_pack("{s:s, s:s, s:s}", "apiGroup", RBAC, "kind", "Group", "name", name);
}

static json_t *config_map(const json_t *node_configuration) {
    _cleanup_(freep) char *text = yaml_write(node_configuration);

    return json_pack("{s:s, s:s, s:o, s:{s:s}}", "apiVersion", "v1", "kind", "ConfigMap",
                     "metadata", metadata("winjoin", "kube-system"), "data", "NodeConfiguration",
                     text);
}

/* One ConfigMap becomes readable for those who join and for nodes. */
static void add_reader(json_t *objects, const char *name_space, const char *config_map_name) {
    json_array_append_new(objects, json_pack("{s:s, s:s, s:o, s:[{s:[s], s:[s], s:[s], s:[s]}]}",
                                             "apiVersion", RBAC "/v1", "kind", "Role", "metadata",
                                             metadata("winjoin", name_space), "rules", "apiGroups",
                                             "", "resources", "configmaps", "resourceNames",
                                             config_map_name, "verbs", "get"));
    json_array_append_new(objects, json_pack("{s:s, s:s, s:o, s:{s:s, s:s, s:s}, s:[o, o]}",
                                             "apiVersion", RBAC "/v1", "kind", "RoleBinding",
                                             "metadata", metadata("winjoin", name_space), "roleRef",
                                             "apiGroup", RBAC, "kind", "Role", "name", "winjoin",
                                             "subjects", group(BOOTSTRAPPERS), group(NODES)));
}

/* Subjects are taken over. */
static void add_binding(json_t *objects, const char *name, const char *role, json_t *subjects) {
    json_array_append_new(objects,
                          json_pack("{s:s, s:s, s:o, s:{s:s, s:s, s:s}, s:o}", "apiVersion",
                                    RBAC "/v1", "kind", "ClusterRoleBinding", "metadata",
                                    metadata(name, NULL), "roleRef", "apiGroup", RBAC, "kind",
                                    "ClusterRole", "name", role, "subjects", subjects));
}

/* Rules and subjects are taken over. */
static void add_cluster_role(json_t *objects, const char *name, json_t *rules, json_t *subjects) {
    json_array_append_new(objects, json_pack("{s:s, s:s, s:o, s:o}", "apiVersion", RBAC "/v1",
                                             "kind", "ClusterRole", "metadata",
                                             metadata(name, NULL), "rules", rules));
    add_binding(objects, name, name, subjects);
}

/* The DaemonSets by which the network agent of Windows nodes is found, and its settings: by name,
 * for others may hold secrets in their variables. */
static void add_discovery(json_t *objects) {
    json_t *sets = json_array(), *maps = json_array();

    for (size_t i = 0; external_agents[i]; i++) {
        json_array_append_new(sets, json_string(external_agents[i]->daemon_set));
        if (external_agents[i]->config_map)
            json_array_append_new(maps, json_string(external_agents[i]->config_map));
        if (external_agents[i]->others_map)
            json_array_append_new(maps, json_string(external_agents[i]->others_map));
    }
    for (size_t i = 0; network_agents[i]; i++)
        if (network_agents[i]->daemon_set)
            json_array_append_new(sets, json_string(network_agents[i]->daemon_set));
    json_array_append_new(sets, json_string(KUBE_PROXY_DAEMON_SET));
    add_cluster_role(objects, "winjoin:network-agents",
                     json_pack("[{s:[s], s:[s], s:o, s:[s, s]}, {s:[s], s:[s], s:o, s:[s]}]",
                               "apiGroups", "apps", "resources", "daemonsets", "resourceNames",
                               sets, "verbs", "get", "list", "apiGroups", "", "resources",
                               "configmaps", "resourceNames", maps, "verbs", "get"),
                     json_pack("[o, o]", group(BOOTSTRAPPERS), group(NODES)));
}

/* What an agent does with a node's identity, or its own. */
static void add_agent(json_t *objects, const struct network_agent *agent) {
    _cleanup_(freep) char *name = agent->rights ? xasprintf("winjoin:%s", agent->plugin) : NULL;
    _cleanup_json_ json_t *rules = json_array();

    for (const struct agent_right *right = agent->rights; right && right->resource; right++) {
        _cleanup_(text_list_free) struct text_list verbs = {0};

        text_list_split(&verbs, right->verbs, ',');
        json_array_append_new(rules, json_pack("{s:[s], s:[s], s:o}", "apiGroups", "", "resources",
                                               right->resource, "verbs", json_texts(&verbs)));
    }
    if (name)
        add_cluster_role(objects, name, json_incref(rules),
                         json_pack("[o]", group(agent->group ? agent->group : NODES)));
}

json_t *cluster_manifest_make(const json_t *node_configuration,
                              const struct agent_source *network) {
    const char *plugin = json_text_at(node_configuration, "network.plugin");
    json_t *objects = json_array();

    json_array_append_new(objects, config_map(node_configuration));
    add_reader(objects, "kube-system", "winjoin");
    add_discovery(objects);
    add_binding(objects, "winjoin:kube-proxy", "system:node-proxier",
                json_pack("[o]", group(NODES)));
    for (size_t i = 0; network_agents[i]; i++)
        if (!network_agents[i]->group ||
            text_equal(network_agents[i]->plugin, plugin)) /* others' group: when asked for */
            add_agent(objects, network_agents[i]);
    if (network)
        add_reader(objects, network->name_space, network->name);
    return objects;
}

char *cluster_manifest_text(const json_t *objects) {
    struct text out = {0};

    json_each(objects, i, object) {
        _cleanup_(freep) char *text = yaml_write(object);

        text_add(&out, i ? "---\n" : "");
        text_add(&out, text);
    }
    return text_take(&out);
}
