/* The kubelet stand-in's mirror pods: how static pods are seen in the API. */
#include "base/memory.h"
#include "base/rfc3339.h"
#include "tests/standins/kubelet/static_pods.h"
#include "tests/standins/lib/klog.h"
#include "tests/standins/lib/pipe.h"

#include <string.h>

#define MIRROR "kubernetes.io/config.mirror"

static json_t *posted; /* uid -> the status that the server has */

static void set(json_t *object, const char *key, json_t *value) {
    (void)json_object_set_new(object, key, value); /* fails on no memory only */
}

static char *path_of(const json_t *pod) {
    return xasprintf("/api/v1/namespaces/%s/pods/%s", json_text_at(pod, "metadata.namespace"),
                     json_text_at(pod, "metadata.name"));
}

static int create(struct cluster *cluster, const json_t *pod, struct error *err) {
    _cleanup_(json_decrefp_) json_t *mirror = json_deep_copy(pod);
    _cleanup_(freep) char *path =
        xasprintf("/api/v1/namespaces/%s/pods", json_text_at(pod, "metadata.namespace"));
    json_t *metadata = json_object_get(mirror, "metadata");
    json_t *annotations = json_object_get(metadata, "annotations");
    const char *uid = json_text_at(pod, "metadata.uid");
    char now[RFC3339_TEXT_MAX];

    if (!annotations) {
        annotations = json_object();
        set(metadata, "annotations", annotations);
    }
    rfc3339_format(host_now(cluster->host), now);
    set(annotations, MIRROR, json_string(uid));
    set(annotations, "kubernetes.io/config.hash", json_string(uid));
    set(annotations, "kubernetes.io/config.source", json_string("file"));
    set(annotations, "kubernetes.io/config.seen", json_string(now));
    (void)json_object_del(metadata, "uid"); /* the server gives it its own */
    return kube_create(&cluster->client, path, mirror, NULL, err);
}

/* One that ended waits for its next start, as the kubelet shows it once it has been restarted. */
static json_t *container_status(const json_t *state) {
    bool runs = json_bool_at(state, "running", false);
    json_int_t restarts = (json_int_t)json_number_at(state, "restarts", 0),
               code = (json_int_t)json_number_at(state, "exitCode", 0);
    const char *image = json_text_at(state, "image"), *since = json_text_at(state, "startedAt");
    json_t *end = json_pack("{s:{s:I,s:s,s:s*}}", "terminated", "exitCode", code, "reason",
                            code ? "Error" : "Completed", "startedAt", since);
    json_t *status = json_pack("{s:s,s:b,s:b,s:I,s:s,s:s}", "name", json_text_at(state, "name"),
                               "ready", runs, "started", runs, "restartCount", restarts, "image",
                               image ? image : "", "imageID", "");

    if (runs)
        set(status, "state", json_pack("{s:{s:s}}", "running", "startedAt", since ? since : ""));
    else if (restarts && code)
        set(status, "state",
            json_pack("{s:{s:s,s:s}}", "waiting", "reason", "CrashLoopBackOff", "message",
                      "back-off restarting failed container"));
    else
        set(status, "state", json_incref(end));
    if (restarts)
        set(status, "lastState", json_incref(end));
    json_decref(end);
    return status;
}

static json_t *status_of(const struct kubelet_settings *settings, const json_t *sandbox) {
    json_t *statuses = json_array(), *state;
    const char *ip = json_text_at(sandbox, "ip");
    bool ready = true;
    size_t i;

    if (!sandbox) {
        json_decref(statuses);
        return json_pack("{s:s,s:s,s:[{s:s,s:s}]}", "phase", "Pending", "hostIP", settings->node_ip,
                         "conditions", "type", "Ready", "status", "False");
    }
    json_array_foreach(json_object_get(sandbox, "containers"), i, state) {
        ready = ready && json_bool_at(state, "running", false);
        (void)json_array_append_new(statuses, container_status(state)); /* no memory only */
    }
    return json_pack("{s:s,s:s,s:s,s:[{s:s}],s:o,s:[{s:s,s:s},{s:s,s:s}]}", "phase", "Running",
                     "hostIP", settings->node_ip, "podIP", ip ? ip : "", "podIPs", "ip",
                     ip ? ip : "", "containerStatuses", statuses, "conditions", "type", "Ready",
                     "status", ready ? "True" : "False", "type", "ContainersReady", "status",
                     ready ? "True" : "False");
}

static int show(struct cluster *cluster, const struct kubelet_settings *settings, const json_t *pod,
                const json_t *sandbox, struct error *err) {
    const char *uid = json_text_at(pod, "metadata.uid");
    _cleanup_(freep) char *path = path_of(pod);
    _cleanup_(freep) char *status_path = xasprintf("%s/status", path);
    _cleanup_(json_decrefp_) json_t *there = NULL, *status = status_of(settings, sandbox);

    if (json_equal(json_object_get(posted, uid), status))
        return 0;
    if (kube_get(&cluster->client, path, &there, err)) {
        if (err->kind != ERROR_ABSENT)
            return -1;
        error_clear(err);
        if (create(cluster, pod, err))
            return -1;
    }
    _cleanup_(json_decrefp_) json_t *patch = json_pack("{s:O}", "status", status);
    if (kube_patch(&cluster->client, status_path, "strategic-merge", patch, err))
        return -1;
    set(posted, uid, json_incref(status));
    return 0;
}

static int hide(struct cluster *cluster, const json_t *pod, struct error *err) {
    _cleanup_(freep) char *path = path_of(pod);
    _cleanup_(freep) char *at_once = xasprintf("%s?gracePeriodSeconds=0", path);

    return kube_delete(&cluster->client, at_once, err);
}

/* Mirror pods of this node whose manifest is gone, from this life of the kubelet or another. */
static int hide_stale(struct cluster *cluster, const struct kubelet_settings *settings,
                      struct error *err) {
    _cleanup_(freep) char *path =
        xasprintf("/api/v1/pods?fieldSelector=spec.nodeName%%3D%s", settings->node_name);
    _cleanup_(json_decrefp_) json_t *list = NULL;
    json_t *pod;
    size_t i;

    if (kube_get(&cluster->client, path, &list, err))
        return -1;
    json_array_foreach(json_object_get(list, "items"), i, pod) {
        const json_t *mark = json_object_get(json_at(pod, "metadata.annotations"), MIRROR);
        if (mark && !json_object_get(static_pods(), json_string_value(mark)) &&
            hide(cluster, pod, err))
            return -1;
    }
    return 0;
}

/* Forgets what has no manifest; true when there was something. */
static bool forget_stale(void) {
    const char *uid;
    json_t *status;
    void *next;
    bool found = false;

    json_object_foreach_safe(posted, next, uid, status) {
        if (!json_object_get(static_pods(), uid)) {
            (void)json_object_del(posted, uid); /* it is there */
            found = true;
        }
    }
    return found;
}

void mirror_pods_sync(struct cluster *cluster, const struct kubelet_settings *settings) {
    static bool looked;
    _cleanup_(json_decrefp_) json_t *request = json_pack("{s:s}", "op", "List"), *list = NULL;
    struct error err = {0};
    const char *uid;
    json_t *pod, *sandbox;
    size_t i;

    if (!posted)
        posted = json_object();
    if ((forget_stale() || !looked)) {
        looked = hide_stale(cluster, settings, &err) == 0;
        if (!looked)
            klog('E', "mirror pods: %s", err.message);
    }
    if (json_object_size(static_pods()) == 0 || pipe_ask(settings->pipe, request, &list, &err))
        return; /* nothing to show, or the runtime is away: static_pods_sync() has said so */
    json_object_foreach((json_t *)static_pods(), uid, pod) {
        const json_t *found = NULL;
        json_array_foreach(json_object_get(list, "pods"), i, sandbox) found =
            text_equal(json_text_at(sandbox, "uid"), uid) ? sandbox : found;
        struct error failed = {0};
        if (show(cluster, settings, pod, found, &failed))
            klog('E', "mirror pod of \"%s\": %s", json_text_at(pod, "metadata.name"),
                 failed.message);
    }
}
