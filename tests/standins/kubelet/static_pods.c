/* The kubelet stand-in's static pods: manifests in, pods on the runtime. */
#include "tests/standins/kubelet/static_pods.h"

#include "base/memory.h"
#include "base/yaml.h"
#include "pki/digest.h"
#include "tests/standins/lib/klog.h"
#include "tests/standins/lib/pipe.h"

#include <string.h>

enum { MANIFEST_MAX = 1024 * 1024, RETRY_SECONDS = 5, UID_LENGTH = 32 };

static json_t *wanted;  /* uid -> Pod */
static json_t *retries; /* uid -> time of the next try */

const json_t *static_pods(void) {
    return wanted;
}

static void set(json_t *object, const char *key, json_t *value) {
    (void)json_object_set_new(object, key, value); /* fails on no memory only */
}

/* As the kubelet treats a pod from a file: uid from its content and node, name with the node's. */
static int adopt(json_t *pod, const char *text, size_t len, const char *node, struct error *err) {
    json_t *metadata = json_object_get(pod, "metadata");
    const char *name = json_text_at(pod, "metadata.name");
    char uid[DIGEST_TEXT_MAX];

    if (!name || !json_array_size(json_at(pod, "spec.containers")))
        return error_set(err, ERROR_MALFORMED, "a static pod needs a name and containers");
    _cleanup_(freep) char *full = xasprintf("%s-%s", name, node);
    digest_sha256(text, len, uid);
    uid[UID_LENGTH] = '\0';
    if (!json_text_at(pod, "metadata.namespace"))
        set(metadata, "namespace", json_string("default"));
    set(metadata, "name", json_string(full));
    set(metadata, "uid", json_string(uid));
    set(json_object_get(pod, "spec"), "nodeName", json_string(node));
    return 0;
}

static int read_manifest(struct host *host, const char *path, const char *node, json_t *into,
                         struct error *err) {
    _cleanup_(freep) char *text = NULL;
    _cleanup_(yaml_forget) struct yaml yaml = {0};
    size_t len;

    if (host_read(host, path, MANIFEST_MAX, &text, &len, err) ||
        yaml_read(text, len, path, &yaml, err))
        return -1;
    _cleanup_(json_decrefp_) json_t *pod = json_incref(json_array_get(yaml.documents, 0));
    if (!text_equal(json_text_at(pod, "kind"), "Pod"))
        return error_set(err, ERROR_MALFORMED, "%s is not a Pod", path);
    if (adopt(pod, text, len, node, err))
        return -1;
    return json_object_set(into, json_text_at(pod, "metadata.uid"), pod);
}

static void read_folder(struct host *host, const struct kubelet_settings *settings) {
    struct text_list names = {0};
    struct error err = {0};

    json_decref(wanted);
    wanted = json_object();
    if (!settings->static_pod_path || host_list(host, settings->static_pod_path, &names, &err))
        return; /* no folder, no pods */
    for (size_t i = 0; i < names.count; i++) {
        _cleanup_(freep) char *path =
            xasprintf("%s\\%s", settings->static_pod_path, names.items[i]);
        struct error bad = {0};
        if (names.items[i][0] != '.' &&
            read_manifest(host, path, settings->node_name, wanted, &bad))
            klog('E', "Could not process manifest file '%s': %s", path, bad.message);
    }
    text_list_free(&names);
}

/* ClusterFirst on Windows: the cluster's servers, the pod's namespace first in the search. */
static json_t *dns_of(const struct kubelet_settings *settings, const json_t *pod) {
    json_t *servers = json_array(), *searches = json_array();
    const char *domain = settings->cluster_domain;
    _cleanup_(freep) char *own =
        xasprintf("%s.svc.%s", json_text_at(pod, "metadata.namespace"), domain);
    _cleanup_(freep) char *services = xasprintf("svc.%s", domain);

    for (size_t i = 0; i < settings->cluster_dns.count; i++)
        (void)json_array_append_new(servers, json_string(settings->cluster_dns.items[i]));
    if (*domain) {
        (void)json_array_append_new(searches, json_string(own)); /* fails on no memory only */
        (void)json_array_append_new(searches, json_string(services));
        (void)json_array_append_new(searches, json_string(domain));
    }
    return json_pack("{s:o,s:o,s:[s]}", "servers", servers, "searches", searches, "options",
                     "ndots:5");
}

/* The words of upstream's kuberuntime_sandbox.go. */
static void sandbox_failed(const json_t *pod, const struct error *err) {
    _cleanup_(freep) char *why = xasprintf("rpc error: code = Unknown desc = %s", err->message);
    _cleanup_(json_decrefp_) json_t *text = json_string(why);
    _cleanup_(freep) char *quoted = json_dumps(text, JSON_ENCODE_ANY);

    klog('E', "\"Failed to create sandbox for pod\" err=%s pod=\"%s/%s\"", quoted ? quoted : "\"\"",
         json_text_at(pod, "metadata.namespace"), json_text_at(pod, "metadata.name"));
}

static void run(struct host *host, const struct kubelet_settings *settings, const json_t *pod) {
    const char *uid = json_text_at(pod, "metadata.uid");
    _cleanup_(json_decrefp_) json_t *answer = NULL;
    _cleanup_(json_decrefp_) json_t *request =
        json_pack("{s:s,s:O,s:o}", "op", "RunPod", "pod", pod, "dns", dns_of(settings, pod));
    struct error err = {0};

    if (host_now(host) < json_integer_value(json_object_get(retries, uid)))
        return;
    if (pipe_ask(settings->pipe, request, &answer, &err)) {
        sandbox_failed(pod, &err);
        set(retries, uid, json_integer(host_now(host) + RETRY_SECONDS));
    } else {
        klog('I', "pod \"%s\" runs at %s", json_text_at(pod, "metadata.name"),
             json_text_at(answer, "ip"));
    }
}

static void stop(const struct kubelet_settings *settings, const char *uid) {
    _cleanup_(json_decrefp_) json_t *answer = NULL;
    _cleanup_(json_decrefp_) json_t *request = json_pack("{s:s,s:s}", "op", "StopPod", "uid", uid);
    struct error err = {0};

    if (pipe_ask(settings->pipe, request, &answer, &err))
        klog('E', "Failed to stop pod %s: %s", uid, err.message);
}

void static_pods_sync(struct host *host, const struct kubelet_settings *settings, bool ready) {
    _cleanup_(json_decrefp_) json_t *request = json_pack("{s:s}", "op", "List"), *list = NULL;
    _cleanup_(json_decrefp_) json_t *running = json_object();
    struct error err = {0};
    const char *uid;
    json_t *pod;
    size_t i;

    if (!retries)
        retries = json_object();
    read_folder(host, settings);
    if (pipe_ask(settings->pipe, request, &list, &err)) {
        klog('E', "ListPodSandbox: %s", err.message);
        return;
    }
    json_array_foreach(json_object_get(list, "pods"), i, pod) {
        set(running, json_text_at(pod, "uid"), json_incref(pod));
        if (!json_object_get(wanted, json_text_at(pod, "uid")))
            stop(settings, json_text_at(pod, "uid"));
    }
    json_object_foreach(wanted, uid, pod) {
        if (!json_object_get(running, uid) && ready)
            run(host, settings, pod);
    }
}
