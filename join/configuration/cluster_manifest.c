/* The manifest of `winjoin config cluster`. */
#include "join/configuration/cluster_manifest.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/yaml.h"

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

static void add_nodes_binding(json_t *objects, const char *name, const char *role) {
    json_array_append_new(objects,
                          json_pack("{s:s, s:s, s:o, s:{s:s, s:s, s:s}, s:[o]}", "apiVersion",
                                    RBAC "/v1", "kind", "ClusterRoleBinding", "metadata",
                                    metadata(name, NULL), "roleRef", "apiGroup", RBAC, "kind",
                                    "ClusterRole", "name", role, "subjects", group(NODES)));
}

/* What flanneld does with a node's identity: its own subnet from the Node, those of the others, its
 * annotations. */
static json_t *flannel_role(void) {
    return json_pack("{s:s, s:s, s:o, s:[{s:[s], s:[s], s:[s]}, {s:[s], s:[s], s:[s, s, s]}, "
                     "{s:[s], s:[s], s:[s]}]}",
                     "apiVersion", RBAC "/v1", "kind", "ClusterRole", "metadata",
                     metadata("winjoin:flannel", NULL), "rules", "apiGroups", "", "resources",
                     "pods", "verbs", "get", "apiGroups", "", "resources", "nodes", "verbs", "get",
                     "list", "watch", "apiGroups", "", "resources", "nodes/status", "verbs",
                     "patch");
}

json_t *cluster_manifest_make(const json_t *node_configuration, const char *flannel_namespace) {
    json_t *objects = json_array();

    json_array_append_new(objects, config_map(node_configuration));
    add_reader(objects, "kube-system", "winjoin");
    add_nodes_binding(objects, "winjoin:kube-proxy", "system:node-proxier");
    json_array_append_new(objects, flannel_role());
    add_nodes_binding(objects, "winjoin:flannel", "winjoin:flannel");
    if (flannel_namespace)
        add_reader(objects, flannel_namespace, "kube-flannel-cfg");
    return objects;
}

char *cluster_manifest_text(const json_t *objects) {
    struct text out = {0};
    const json_t *object;
    size_t i;

    json_array_foreach(objects, i, object) {
        _cleanup_(freep) char *text = yaml_write(object);

        text_add(&out, i ? "---\n" : "");
        text_add(&out, text);
    }
    return text_take(&out);
}
