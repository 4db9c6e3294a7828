/* The kubelet stand-in's Node and lease. */
#include "tests/standins/kubelet/node.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/rfc3339.h"
#include "tests/standins/lib/klog.h"

#include <string.h>

#define LEASES "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"

enum { POST_SECONDS = 10 };

static void set_text(json_t *object, const char *key, const char *value) {
    (void)json_object_set_new(object, key, json_string(value)); /* fails on no memory only */
}

/* "a=b,c=d" into an object. */
static void add_pairs(json_t *object, const char *pairs) {
    struct text_list list = {0};

    text_list_split(&list, pairs ? pairs : "", ',');
    for (size_t i = 0; i < list.count; i++) {
        size_t len = strcspn(list.items[i], "=");
        _cleanup_(freep) char *key = xstrndup(list.items[i], len);
        set_text(object, key, list.items[i][len] ? list.items[i] + len + 1 : "");
    }
    text_list_free(&list);
}

/* "key=value:effect,..." */
static json_t *taints_of(const char *text) {
    struct text_list list = {0};
    json_t *taints = json_array();

    text_list_split(&list, text ? text : "", ',');
    for (size_t i = 0; i < list.count; i++) {
        const char *item = list.items[i], *colon = strrchr(item, ':');
        size_t len = strcspn(item, "=:");
        const char *value = item[len] == '=' ? item + len + 1 : "";
        _cleanup_(freep) char *key = xstrndup(item, len);
        _cleanup_(freep) char *plain = xstrndup(value, strcspn(value, ":"));
        (void)json_array_append_new(taints, /* fails on no memory only */
                                    json_pack("{s:s,s:s,s:s}", "key", key, "value", plain, "effect",
                                              colon ? colon + 1 : ""));
    }
    text_list_free(&list);
    return taints;
}

static json_t *node_make(const struct kubelet_settings *settings, const struct kubelet_flags *flags,
                         const struct host_facts *facts) {
    _cleanup_(freep) char *build = xasprintf("%u.%u.%u", facts->major, facts->minor, facts->build);
    json_t *labels = json_pack("{s:s,s:s,s:s,s:s}", "kubernetes.io/os", "windows",
                               "kubernetes.io/arch", "amd64", "kubernetes.io/hostname",
                               settings->node_name, "node.kubernetes.io/windows-build", build);

    add_pairs(labels, flags->node_labels);
    return json_pack("{s:s,s:s,s:{s:s,s:o,s:{s:s}},s:{s:o}}", "apiVersion", "v1", "kind", "Node",
                     "metadata", "name", settings->node_name, "labels", labels, "annotations",
                     "volumes.kubernetes.io/controller-managed-attach-detach", "true", "spec",
                     "taints", taints_of(flags->register_with_taints));
}

static json_t *condition(const char *type, bool on, const char *reason, const char *message,
                         const char *now) {
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s}", "type", type, "status", on ? "True" : "False",
                     "reason", reason, "message", message, "lastHeartbeatTime", now,
                     "lastTransitionTime", now);
}

static json_t *ready_condition(bool ready, const char *why, const char *now) {
    _cleanup_(freep) char *message =
        ready ? xstrdup("kubelet is posting ready status")
              : xasprintf("container runtime network not ready: NetworkReady=false "
                          "reason:NetworkPluginNotReady message:Network plugin returns error: %s",
                          why);

    return condition("Ready", ready, ready ? "KubeletReady" : "KubeletNotReady", message, now);
}

static json_t *node_info(const struct host_facts *facts) {
    _cleanup_(freep) char *kernel =
        xasprintf("%u.%u.%u.%u", facts->major, facts->minor, facts->build, facts->revision);

    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s}", "architecture", "amd64",
                     "operatingSystem", "windows", "osImage", facts->product, "kernelVersion",
                     kernel, "kubeletVersion", KUBELET_VERSION, "kubeProxyVersion", "",
                     "containerRuntimeVersion", "containerd://2.4.2", "machineID", facts->host_name,
                     "systemUUID", "", "bootID", "");
}

static json_t *status_make(const struct kubelet_settings *settings, const struct host_facts *facts,
                           bool ready, const char *why, const char *now) {
    json_t *conditions = json_array(), *sizes;
    _cleanup_(freep) char *memory =
        xasprintf("%lluKi", (unsigned long long)facts->memory_bytes / 1024);

    static const struct {
        const char *type, *reason, *message;
    } pressures[] = {
        {"MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"},
        {"DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"},
        {"PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"},
    };
    for (size_t i = 0; i < sizeof(pressures) / sizeof(pressures[0]); i++)
        (void)json_array_append_new(
            conditions, /* fails on no memory only */
            condition(pressures[i].type, false, pressures[i].reason, pressures[i].message, now));
    (void)json_array_append_new(conditions, ready_condition(ready, why, now));
    sizes = json_pack("{s:s,s:s,s:s}", "cpu", "2", "memory", memory, "pods", "110");
    json_t *addresses =
        json_pack("[{s:s,s:s},{s:s,s:s}]", "type", "InternalIP", "address", settings->node_ip,
                  "type", "Hostname", "address", settings->node_name);
    if (settings->node_ip6)
        (void)json_array_insert_new(
            addresses, 1, /* fails on no memory only */
            json_pack("{s:s,s:s}", "type", "InternalIP", "address", settings->node_ip6));
    return json_pack("{s:o,s:o,s:O,s:o,s:{s:{s:i}},s:o}", "conditions", conditions, "capacity",
                     sizes, "allocatable", sizes, "addresses", addresses, "daemonEndpoints",
                     "kubeletEndpoint", "Port", (int)settings->port, "nodeInfo", node_info(facts));
}

/* lastTransitionTime moves only with the status. */
static void keep_transitions(json_t *status, const json_t *old) {
    json_t *fresh, *before;
    size_t i, j;

    json_array_foreach(json_object_get(status, "conditions"), i, fresh) {
        json_array_foreach(json_at(old, "status.conditions"), j, before) {
            if (text_equal(json_text_at(before, "type"), json_text_at(fresh, "type")) &&
                text_equal(json_text_at(before, "status"), json_text_at(fresh, "status")))
                set_text(fresh, "lastTransitionTime", json_text_at(before, "lastTransitionTime"));
        }
    }
}

static int lease_renew(struct cluster *cluster, const json_t *object, struct error *err) {
    const char *node = json_text_at(object, "metadata.name");
    _cleanup_(freep) char *path = xasprintf(LEASES "/%s", node);
    char now[RFC3339_TEXT_MAX];

    rfc3339_format(host_now(cluster->host), now);
    _cleanup_(freep) char *renewed = xasprintf("%.19s.000000Z", now);
    _cleanup_(json_decrefp_) json_t *patch =
        json_pack("{s:{s:s,s:s,s:i}}", "spec", "holderIdentity", node, "renewTime", renewed,
                  "leaseDurationSeconds", 40);
    if (kube_patch(&cluster->client, path, "merge", patch, err) == 0)
        return 0;
    if (err->kind != ERROR_ABSENT)
        return -1;
    error_clear(err);
    _cleanup_(json_decrefp_) json_t *lease = json_pack(
        "{s:s,s:s,s:{s:s,s:s,s:[{s:s,s:s,s:s,s:O}]},s:O}", "apiVersion", "coordination.k8s.io/v1",
        "kind", "Lease", "metadata", "name", node, "namespace", "kube-node-lease",
        "ownerReferences", "apiVersion", "v1", "kind", "Node", "name", node, "uid",
        json_at(object, "metadata.uid"), "spec", json_object_get(patch, "spec"));
    return kube_create(&cluster->client, LEASES, lease, NULL, err);
}

static int get_or_create(struct cluster *cluster, const struct kubelet_settings *settings,
                         const struct kubelet_flags *flags, const struct host_facts *facts,
                         json_t **ret, struct error *err) {
    _cleanup_(freep) char *path = xasprintf("/api/v1/nodes/%s", settings->node_name);

    if (kube_get(&cluster->client, path, ret, err) == 0)
        return 0;
    if (err->kind != ERROR_ABSENT)
        return -1;
    error_clear(err);
    _cleanup_(json_decrefp_) json_t *node = node_make(settings, flags, facts);
    klog('I', "Attempting to register node \"%s\"", settings->node_name);
    if (kube_create(&cluster->client, "/api/v1/nodes", node, ret, err))
        return error_prefix(err, "unable to register node with API server");
    klog('I', "Successfully registered node \"%s\"", settings->node_name);
    return 0;
}

int node_sync(struct cluster *cluster, const struct kubelet_settings *settings,
              const struct kubelet_flags *flags, bool ready, const char *why, struct error *err) {
    static int64_t posted;
    static int posted_ready = -1;
    _cleanup_(freep) char *path = xasprintf("/api/v1/nodes/%s/status", settings->node_name);
    _cleanup_(json_decrefp_) json_t *node = NULL;
    struct host_facts facts = {0};
    char now[RFC3339_TEXT_MAX];

    if (posted_ready == ready && host_now(cluster->host) < posted + POST_SECONDS)
        return 0;
    if (host_facts(cluster->host, &facts, err) ||
        get_or_create(cluster, settings, flags, &facts, &node, err))
        return -1;
    rfc3339_format(host_now(cluster->host), now);
    json_t *status = status_make(settings, &facts, ready, why, now);
    keep_transitions(status, node);
    /* two of one type would be merged, as upstream's kubelet knows */
    (void)json_array_append_new(json_object_get(status, "addresses"), /* no memory only */
                                json_pack("{s:s}", "$patch", "replace"));
    _cleanup_(json_decrefp_) json_t *patch = json_pack("{s:o}", "status", status);
    if (kube_patch(&cluster->client, path, "strategic-merge", patch, err) ||
        lease_renew(cluster, node, err))
        return -1;
    posted = host_now(cluster->host);
    posted_ready = ready;
    return 0;
}
