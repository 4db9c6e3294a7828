/* The manifest of `winjoin config cluster`. */
#include "join/configuration/cluster_manifest.h"

#include "base/yaml_template.h"
#include "netsetup/agents/external_agent.h"
#include "templates/templates.h"

static void add(json_t *objects, const char *part, json_t *values) {
    _cleanup_json_ json_t *made =
        yaml_template(template_find("cluster-manifest.yaml")->data, part, values);

    json_array_extend(objects, made);
}

static void add_reader(json_t *objects, const char *name_space, const char *config_map) {
    add(objects, "reader",
        json_pack("{s:s, s:s}", "NAMESPACE", name_space, "CONFIG_MAP", config_map));
}

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
    add(objects, "discovery", json_pack("{s:o, s:o}", "DAEMON_SETS", sets, "CONFIG_MAPS", maps));
}

static void add_agent(json_t *objects, const struct network_agent *agent) {
    _cleanup_(freep) char *name = xasprintf("winjoin:%s", agent->plugin);
    json_t *rules = json_array();

    for (const struct agent_right *right = agent->rights; right->resource; right++) {
        _cleanup_(text_list_free) struct text_list verbs = {0};

        text_list_split(&verbs, right->verbs, ',');
        json_array_append_new(rules, json_pack("{s:[s], s:[s], s:o}", "apiGroups", "", "resources",
                                               right->resource, "verbs", json_texts(&verbs)));
    }
    add(objects, "agent",
        json_pack("{s:s, s:o, s:s}", "NAME", name, "RULES", rules, "GROUP",
                  agent->group ? agent->group : "system:nodes"));
}

json_t *cluster_manifest_make(const json_t *node_configuration,
                              const struct agent_source *network) {
    const char *plugin = json_text_at(node_configuration, "network.plugin");
    _cleanup_(freep) char *text = yaml_write(node_configuration);
    json_t *objects = json_array();

    add(objects, "defaults", json_pack("{s:s}", "NODE_CONFIGURATION", text));
    add_reader(objects, "kube-system", "winjoin");
    add_discovery(objects);
    add(objects, "kubeProxy", NULL);
    for (size_t i = 0; network_agents[i]; i++)
        if (network_agents[i]->rights &&
            (!network_agents[i]->group ||
             text_equal(network_agents[i]->plugin, plugin))) /* others' group: when asked for */
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
