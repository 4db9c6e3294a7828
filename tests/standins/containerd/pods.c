/* The pods that the containerd stand-in runs: HNS namespace, sandbox, CNI, containers. */
#include "tests/standins/containerd/pods.h"

#include "base/cidr.h"
#include "base/memory.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "host/host.h"
#include "tests/standins/containerd/cni.h"
#include "tests/standins/containerd/containers.h"
#include "tests/standins/containerd/mounts.h"
#include "tests/standins/lib/hcn.h"
#include "tests/standins/lib/klog.h"
#include "tests/standins/lib/lifetime.h"
#include "tests/standins/lib/rig.h"

#include <string.h>
#include <windows.h>

#define STATE_PATH "C:\\ProgramData\\containerd\\state\\standin.json"

static const struct standin_settings *settings;
static json_t *pods; /* uid -> {"uid","namespace","name","id","netns","ip","containers",..} */
static CRITICAL_SECTION lock;

static json_t *refused(const struct error *err) {
    return json_pack("{s:b,s:s}", "ok", 0, "error", err->message);
}

static void save(struct host *host) {
    _cleanup_(freep) char *text = json_write_pretty(pods);
    struct error err = {0};

    if (host_write(host, STATE_PATH, text, strlen(text), HOST_PUBLIC, &err))
        klog('E', "state: %s", err.message);
}

void pods_open(const struct standin_settings *given) {
    struct host *host = host_win32_open();
    _cleanup_(freep) char *text = NULL;
    struct error err = {0};
    const char *uid;
    json_t *pod;
    size_t len;

    settings = given;
    InitializeCriticalSection(&lock);
    if (host_read(host, STATE_PATH, 1 << 24, &text, &len, &err) ||
        json_read(text, len, "state", &pods, &err))
        pods = json_object();
    json_object_foreach(pods, uid, pod) mounts_hold(pod);
    host_free(host);
}

/* 64 hexadecimal digits, as containerd names its sandboxes. */
static char *new_id(struct host *host) {
    unsigned char random[32] = {0};
    struct text id = {0};
    struct error err = {0};

    (void)host_random(host, random, sizeof(random), &err); /* zeros would still be an id */
    for (size_t i = 0; i < sizeof(random); i++)
        text_addf(&id, "%02x", random[i]);
    return text_take(&id);
}

static int sandbox(const char *netns, bool remove, struct error *err) {
    _cleanup_(json_decrefp_) json_t *request =
        json_pack("{s:s,s:s,s:b}", "op", "sandbox", "namespace", netns, "remove", remove);

    return rig_ask(request, NULL, err);
}

static struct cni_pod cni_pod(const json_t *pod) {
    return (struct cni_pod){.id = json_text_at(pod, "id"),
                            .netns = json_text_at(pod, "netns"),
                            .args = json_text_at(pod, "args"),
                            .dns = json_object_get(pod, "dns"),
                            .ports = json_object_get(pod, "ports")};
}

/* libcni reads it as a network: what is none fails the call. */
static int read_address(const json_t *result, char **ret, struct error *err) {
    const char *text = json_text_at(result, "ips.0.address");

    if (!text)
        text = json_text_at(result, "ip4.ip");
    struct cidr address;

    if (text && cidr_parse(text, &address, err) < 0)
        return error_prefix(err, "the plugin's result");
    *ret = text ? xstrndup(text, strcspn(text, "/")) : xstrdup("");
    return 0;
}

/* Namespace, sandbox, CNI; what was made before a failure is taken back. */
static int build(struct host *host, json_t *pod, struct error *err) {
    _cleanup_(json_decrefp_) json_t *document =
        json_pack("{s:{s:i,s:i}}", "SchemaVersion", "Major", 0, "Minor", 0);
    _cleanup_(json_decrefp_) json_t *space = NULL, *result = NULL;
    struct error ignored = {0};

    if (hcn_make(host, HCN_NAMESPACE, NULL, document, &space, err))
        return -1;
    (void)json_object_set(pod, "netns", json_object_get(space, "ID")); /* no memory only */
    struct cni_pod call = cni_pod(pod);
    if (sandbox(call.netns, false, err) == 0) {
        _cleanup_(freep) char *address = NULL;
        if (cni_call(host, settings, "ADD", &call, &result, err) == 0 &&
            read_address(result, &address, err) == 0)
            return json_object_set_new(pod, "ip", json_string(address));
        (void)cni_call(host, settings, "DEL", &call, NULL, &ignored); /* tell the first failure */
        (void)sandbox(call.netns, true, &ignored);
    }
    (void)hcn_delete(host, HCN_NAMESPACE, call.netns, &ignored);
    return error_prefix(err, "failed to setup network for sandbox");
}

static json_t *ports_of(const json_t *object) {
    json_t *ports = json_array(), *container, *port;
    size_t i, j;

    json_array_foreach(json_at(object, "spec.containers"), i, container) {
        json_array_foreach(json_object_get(container, "ports"), j, port) {
            if (json_object_get(port, "hostPort"))
                (void)json_array_append(ports, port); /* fails on no memory only */
        }
    }
    return ports;
}

static json_t *new_pod(struct host *host, const json_t *request) {
    const json_t *object = json_object_get(request, "pod");
    const char *name = json_text_at(object, "metadata.name");
    const char *space = json_text_at(object, "metadata.namespace");
    _cleanup_(freep) char *id = new_id(host);
    _cleanup_(freep) char *args = xasprintf("IgnoreUnknown=1;K8S_POD_NAMESPACE=%s;K8S_POD_NAME=%s;"
                                            "K8S_POD_INFRA_CONTAINER_ID=%s",
                                            space, name, id);

    return json_pack("{s:O,s:s,s:s,s:s,s:s,s:o,s:O*,s:O*,s:O}", "uid",
                     json_at(object, "metadata.uid"), "namespace", space, "name", name, "id", id,
                     "args", args, "ports", ports_of(object), "dns",
                     json_object_get(request, "dns"), "hosts", json_object_get(request, "hosts"),
                     "object", object);
}

json_t *pods_run(const json_t *request) {
    const char *uid = json_text_at(request, "pod.metadata.uid");
    struct error err = {0};

    if (!uid || !json_text_at(request, "pod.metadata.name"))
        return json_pack("{s:b,s:s}", "ok", 0, "error", "a pod needs a name and a uid");
    EnterCriticalSection(&lock);
    struct host *host = host_win32_open();
    json_t *pod = json_incref(json_object_get(pods, uid));
    int result = 0;
    if (!pod) {
        pod = new_pod(host, request);
        result = build(host, pod, &err);
        if (result == 0) {
            (void)json_object_set(pods, uid, pod); /* no memory only */
            mounts_hold(pod);
            containers_start(pod);
            save(host);
        }
    }
    klog(result ? 'E' : 'I', "RunPodSandbox for \"%s/%s\": %s", json_text_at(pod, "namespace"),
         json_text_at(pod, "name"), result ? err.message : json_text_at(pod, "ip"));
    json_t *answer = result ? refused(&err)
                            : json_pack("{s:b,s:O,s:O}", "ok", 1, "id", json_object_get(pod, "id"),
                                        "ip", json_object_get(pod, "ip"));
    host_free(host);
    LeaveCriticalSection(&lock);
    json_decref(pod);
    return answer;
}

static int take_down(struct host *host, json_t *pod, struct error *err) {
    struct cni_pod call = cni_pod(pod);

    containers_stop(pod);
    if (cni_call(host, settings, "DEL", &call, NULL, err))
        return -1;
    if (sandbox(call.netns, true, err))
        return -1;
    return hcn_delete(host, HCN_NAMESPACE, call.netns, err);
}

json_t *pods_stop(const json_t *request) {
    const char *uid = json_text_at(request, "uid");
    struct error err = {0};

    EnterCriticalSection(&lock);
    json_t *pod = uid ? json_object_get(pods, uid) : NULL;
    json_t *answer = json_pack("{s:b}", "ok", 1);
    if (pod) {
        struct host *host = host_win32_open();
        if (take_down(host, pod, &err)) {
            json_decref(answer);
            answer = refused(&err);
        } else {
            mounts_release(pod);
            (void)json_object_del(pods, uid); /* it is there */
            save(host);
        }
        klog(err.kind ? 'E' : 'I', "StopPodSandbox for \"%s\": %s", uid,
             err.kind ? err.message : "done");
        host_free(host);
    }
    LeaveCriticalSection(&lock);
    return answer;
}

json_t *pods_list(void) {
    static const char *const shown[] = {"uid",   "namespace", "name",      "id",
                                        "netns", "ip",        "containers"};
    json_t *list = json_array(), *pod;
    const char *uid;

    EnterCriticalSection(&lock);
    json_object_foreach(pods, uid, pod) {
        json_t *item = json_object();
        for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
            (void)json_object_set_new(item, shown[i], /* fails on no memory only */
                                      json_deep_copy(json_object_get(pod, shown[i])));
        (void)json_array_append_new(list, item);
    }
    LeaveCriticalSection(&lock);
    return json_pack("{s:b,s:o}", "ok", 1, "pods", list);
}

json_t *pods_status(void) {
    struct host *host = host_win32_open();
    _cleanup_(json_decrefp_) json_t *conf = NULL;
    struct error err = {0};
    int result = cni_load(host, settings, &conf, &err);

    host_free(host);
    return json_pack("{s:b,s:b,s:s}", "ok", 1, "ready", result == 0, "message",
                     result ? err.message : "");
}

void pods_watch(void *unused) {
    const char *uid;
    json_t *pod;

    (void)unused;
    while (!lifetime_wait(500)) {
        EnterCriticalSection(&lock);
        json_object_foreach(pods, uid, pod) containers_look_after(pod);
        LeaveCriticalSection(&lock);
    }
}
