/* The documents of a cluster's diagnosis: namespace, pods, Services, rights. */
#include "diag/cluster/probes/pods.h"

#include "base/yaml.h"
#include "kube/client.h"
#include "templates/templates.h"

static json_t *part(const char *name, json_t *values) {
    return yaml_template(template_find("cluster-diagnosis.yaml")->data, name, values);
}

json_t *cluster_namespace_make(const char *name) {
    return part("namespace", json_pack("{s:s}", "NAME", name));
}

json_t *cluster_pod_make(const struct cluster_node *node, const char *image) {
    _cleanup_json_ json_t *of_os =
        part(text_equal(node->os, "windows") ? "windows" : "linux", NULL);
    _cleanup_(freep) char *command = kube_escape(json_text_at(of_os, "SETTINGS_OF"));
    _cleanup_(freep) char *settings = xasprintf("--http-override=/shell?cmd=%s", command);
    json_t *values = json_pack("{s:s, s:s, s:s, s:s}", "POD", node->pod, "NODE", node->name, "OS",
                               node->os, "IMAGE", image);

    json_object_update(values, of_os);
    json_object_set_new(values, "SETTINGS", json_string(settings));
    return part("pod", values);
}

static json_t *alias_make(const char *name, const char *domain) {
    _cleanup_(freep) char *target = xasprintf("kubernetes.default.svc.%s", domain);

    return part("alias", json_pack("{s:s, s:s}", "NAME", name, "KUBERNETES", target));
}

json_t *cluster_services_make(const char *domain) {
    json_t *services = part("services", NULL);

    json_array_append_new(services, alias_make("alias", domain));
    return services;
}

json_t *cluster_alias_make(const char *domain) {
    return alias_make("domain-alias", domain);
}

const struct kube_right cluster_rights[CLUSTER_RIGHTS] = {
    {"list", "", "nodes"},        {"create", "", "namespaces"}, {"list", "", "namespaces"},
    {"delete", "", "namespaces"}, {"create", "", "pods"},       {"list", "", "pods"},
    {"watch", "", "pods"},        {"get", "", "pods/proxy"},    {"create", "", "services"},
};

/* A rule a right: as they are told; and exec, which is asked for only where the proxy fails. */
json_t *cluster_grant_make(const char *user) {
    json_t *rules = json_array();

    for (size_t i = 0; i < CLUSTER_RIGHTS; i++)
        json_array_append_new(rules, json_pack("{s:[s], s:[s], s:[s]}", "apiGroups",
                                               cluster_rights[i].group, "resources",
                                               cluster_rights[i].resource, "verbs",
                                               cluster_rights[i].verb));
    json_array_append_new(rules, json_pack("{s:[s], s:[s], s:[s,s]}", "apiGroups", "", "resources",
                                           "pods/exec", "verbs", "get", "create"));
    return part("grant", json_pack("{s:o, s:s}", "RULES", rules, "USER", user));
}
