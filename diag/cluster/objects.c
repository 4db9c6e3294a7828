/* The documents of a cluster's diagnosis: namespace, pods, Services, rights. */
#include "diag/cluster/objects.h"

#define LABELS CLUSTER_MANAGER, CLUSTER_MANAGER_NAME

json_t *cluster_namespace_make(const char *name) {
    return json_pack("{s:s, s:s, s:{s:s, s:{s:s, s:s}}}", "apiVersion", "v1", "kind", "Namespace",
                     "metadata", "name", name, "labels", LABELS,
                     "pod-security.kubernetes.io/enforce", "restricted");
}

static json_t *container_make(const char *name, const char *image, unsigned http, unsigned udp,
                              bool windows) {
    _cleanup_(freep) char *http_flag = xasprintf("--http-port=%u", http);
    _cleanup_(freep) char *udp_flag = xasprintf("--udp-port=%u", udp);
    json_t *container =
        json_pack("{s:s, s:s, s:[s,s,s], s:[{s:i}, {s:i,s:s}], s:{s:{s:s, s:s}}}", "name", name,
                  "image", image, "args", "netexec", http_flag, udp_flag, "ports", "containerPort",
                  (int)http, "containerPort", (int)udp, "protocol", "UDP", "resources", "requests",
                  "cpu", "5m", "memory", windows ? "64Mi" : "16Mi");

    if (!windows) /* a Windows pod must not have these */
        json_object_set_new(container, "securityContext",
                            json_pack("{s:b, s:{s:[s]}}", "allowPrivilegeEscalation", 0,
                                      "capabilities", "drop", "ALL"));
    return container;
}

static json_t *security_make(bool windows) {
    if (windows)
        return json_pack("{s:b, s:{s:s}}", "runAsNonRoot", 1, "windowsOptions", "runAsUserName",
                         "ContainerUser");
    return json_pack("{s:b, s:i, s:i, s:{s:s}}", "runAsNonRoot", 1, "runAsUser", 65532,
                     "runAsGroup", 65532, "seccompProfile", "type", "RuntimeDefault");
}

/* The kubelet's own question is the flow from node to pod. */
static json_t *readiness_make(void) {
    return json_pack("{s:{s:s, s:i}, s:i, s:i}", "httpGet", "path", "/hostname", "port", PROBE_HTTP,
                     "periodSeconds", 1, "timeoutSeconds", 5);
}

json_t *cluster_pod_make(const struct cluster_node *node, const char *image) {
    bool windows = text_equal(node->os, "windows");
    json_t *first = container_make("probe", image, PROBE_HTTP, PROBE_UDP_ECHO, windows);

    json_object_set_new(first, "readinessProbe", readiness_make());
    return json_pack(
        "{s:s, s:s, s:{s:s, s:{s:s, s:s}},"
        " s:{s:s, s:s, s:s, s:{s:s}, s:b, s:b, s:i, s:i, s:s, s:{s:s}, s:[{s:s}], s:o, s:[o,o]}}",
        "apiVersion", "v1", "kind", "Pod", "metadata", "name", node->pod, "labels", LABELS, "app",
        "winjoin-probe", "spec", "nodeName", node->name, "hostname", node->pod, "subdomain",
        "probes", "nodeSelector", "kubernetes.io/os", node->os, "automountServiceAccountToken", 0,
        "enableServiceLinks", 0, "terminationGracePeriodSeconds", 0, "activeDeadlineSeconds",
        POD_LIFE_SECONDS, "restartPolicy", "Always", "os", "name", node->os, "tolerations",
        "operator", "Exists", "securityContext", security_make(windows), "containers", first,
        container_make("neighbor", image, NEIGHBOR_HTTP, NEIGHBOR_UDP, windows));
}

/* A probe that is not ready is asked all the same: that is what is to be found out. */
static json_t *service_make(const char *name, const char *type, const char *field,
                            const char *value) {
    json_t *service = json_pack(
        "{s:s, s:s, s:{s:s, s:{s:s}}, s:{s:s, s:{s:s}, s:b, s:[{s:s,s:i,s:i}, "
        "{s:s,s:s,s:i,s:i}]}}",
        "apiVersion", "v1", "kind", "Service", "metadata", "name", name, "labels", LABELS, "spec",
        "type", type, "selector", "app", "winjoin-probe", "publishNotReadyAddresses", 1, "ports",
        "name", "http", "port", SERVICE_HTTP, "targetPort", PROBE_HTTP, "name", "udp", "protocol",
        "UDP", "port", SERVICE_UDP, "targetPort", PROBE_UDP_ECHO);

    if (field)
        json_object_set_new(json_object_get(service, "spec"), field, json_string(value));
    return service;
}

static json_t *alias_make(const char *name, const char *domain) {
    _cleanup_(freep) char *target = xasprintf("kubernetes.default.svc.%s", domain);

    return json_pack("{s:s, s:s, s:{s:s, s:{s:s}}, s:{s:s, s:s}}", "apiVersion", "v1", "kind",
                     "Service", "metadata", "name", name, "labels", LABELS, "spec", "type",
                     "ExternalName", "externalName", target);
}

json_t *cluster_services_make(const char *domain) {
    return json_pack("[o, o, o, o, o, o]", service_make("probes", "ClusterIP", "clusterIP", "None"),
                     service_make("backend", "NodePort", "ipFamilyPolicy", "PreferDualStack"),
                     service_make("sticky", "ClusterIP", "sessionAffinity", "ClientIP"),
                     service_make("local", "NodePort", "externalTrafficPolicy", "Local"),
                     service_make("self", "ClusterIP", "internalTrafficPolicy", "Local"),
                     alias_make("alias", domain));
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
    return json_pack(
        "{s:s, s:s, s:[{s:s, s:s, s:{s:s}, s:o}, {s:s, s:s, s:{s:s}, s:{s:s, s:s, s:s}, "
        "s:[{s:s, s:s, s:s}]}]}",
        "apiVersion", "v1", "kind", "List", "items", "apiVersion", "rbac.authorization.k8s.io/v1",
        "kind", "ClusterRole", "metadata", "name", CLUSTER_MANAGER_NAME, "rules", rules,
        "apiVersion", "rbac.authorization.k8s.io/v1", "kind", "ClusterRoleBinding", "metadata",
        "name", CLUSTER_MANAGER_NAME, "roleRef", "apiGroup", "rbac.authorization.k8s.io", "kind",
        "ClusterRole", "name", CLUSTER_MANAGER_NAME, "subjects", "apiGroup",
        "rbac.authorization.k8s.io", "kind", "User", "name", user);
}
