/* Makes the manifest of `winjoin config cluster`. */
#include "join/configuration/cluster_config.h"

#include "base/yaml.h"
#include "netsetup/agents/agent.h"
#include "netsetup/agents/daemon_set_agent.h"
#include "templates/templates.h"

static void add(json_t *objects, const char *part, json_t *values) {
    _cleanup_json_ json_t *made =
        yaml_template(template_find("cluster-manifest.yaml")->data, part, values);

    json_array_extend(objects, made);
}

/* Adds a name to the array unless the array has it already. NULL adds nothing. */
static void add_name(json_t *names, const char *name) {
    json_each(names, i, item)
        if (text_equal(json_string_value(item), name))
            return;
    if (name)
        json_array_append_new(names, json_string(name));
}

/* Adds the right to read what network agents say. It is granted by name in all namespaces, because
 * each cluster chooses the namespace of its agent. */
static void add_discovery(json_t *objects) {
    json_t *maps = json_array(), *rules = json_array();
    _cleanup_json_ json_t *others = json_array();

    for (size_t i = 0; daemon_set_agents[i]; i++) {
        const struct agent_object *object = &daemon_set_agents[i]->object;

        add_name(maps, daemon_set_agents[i]->config_map);
        add_name(maps, daemon_set_agents[i]->others_map);
        if (object->group)
            json_array_append_new(others, json_pack("{s:[s], s:[s], s:[s], s:[s]}", "apiGroups",
                                                    object->group, "resources", object->resource,
                                                    "resourceNames", object->name, "verbs", "get"));
    }
    for (size_t i = 0; network_agents[i]; i++)
        for (const struct agent_source *s = network_agents[i]->sources; s && s->name; s++)
            add_name(maps, s->name);
    json_array_append_new(rules, json_pack("{s:[s], s:[s], s:[s]}", "apiGroups", "apps",
                                           "resources", "daemonsets", "verbs", "list"));
    json_array_append_new(rules,
                          json_pack("{s:[s], s:[s], s:o, s:[s]}", "apiGroups", "", "resources",
                                    "configmaps", "resourceNames", maps, "verbs", "get"));
    json_array_extend(rules, others);
    add(objects, "discovery", json_pack("{s:o}", "RULES", rules));
}

json_t *cluster_manifest_make(const json_t *node_configuration, const char *searched,
                              const char *dns_namespace) {
    const char *plugin = json_text_at(node_configuration, "network.plugin");
    _cleanup_(freep) char *text = yaml_write(node_configuration);
    json_t *objects = json_array();

    add(objects, "defaults", json_pack("{s:s}", "NODE_CONFIGURATION", text));
    if (searched)
        json_put(json_array_get(objects, 0), "data." CLUSTER_MANIFEST_NETWORK,
                 json_string(searched));
    if (dns_namespace)
        json_put(json_array_get(objects, 0), "data." CLUSTER_MANIFEST_DNS,
                 json_string(dns_namespace));
    add(objects, "reader", NULL);
    add(objects, "dns",
        json_pack("{s:s}", "NAMESPACE", dns_namespace ? dns_namespace : "kube-system"));
    add_discovery(objects);
    add(objects, "kubeProxy", NULL);
    for (size_t i = 0; network_agents[i]; i++) {
        const struct network_agent *agent = network_agents[i];
        _cleanup_(freep) char *name = xasprintf("winjoin:%s", agent->plugin);
        json_t *rules;

        if (!agent->rights || (agent->group && !text_equal(agent->plugin, plugin)))
            /* An agent with a group gets rights only if the configuration names its plugin. */
            continue;
        rules = json_array();
        for (const struct agent_right *right = agent->rights; right->resource; right++) {
            _cleanup_(text_list_free) struct text_list verbs = {0};

            text_list_split(&verbs, right->verbs, ',');
            json_array_append_new(rules,
                                  json_pack("{s:[s], s:[s], s:o}", "apiGroups", "", "resources",
                                            right->resource, "verbs", json_texts(&verbs)));
        }
        add(objects, "agent",
            json_pack("{s:s, s:o, s:s}", "NAME", name, "RULES", rules, "GROUP",
                      agent->group ? agent->group : "system:nodes"));
    }
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
