/* The containers of one pod. */
#include "tests/standins/containerd/containers.h"

#include "base/memory.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "tests/standins/lib/klog.h"
#include "tests/standins/lib/rig.h"

#include <string.h>
#include <time.h>

enum { BACKOFF_STEP_SECONDS = 10, BACKOFF_MAX_SECONDS = 300 };

static void set(json_t *object, const char *key, json_t *value) {
    (void)json_object_set_new(object, key, value); /* fails on no memory only */
}

static json_t *command_of(const json_t *container) {
    json_t *command = json_array();

    (void)json_array_extend(command, json_object_get(container, "command")); /* may be absent */
    (void)json_array_extend(command, json_object_get(container, "args"));
    return command;
}

/* The downward API's few fields that a pod's command may want. */
static json_t *field_value(const json_t *pod, const char *path) {
    if (text_equal(path, "status.podIP"))
        return json_incref(json_object_get(pod, "ip"));
    json_t *value = json_at(json_object_get(pod, "object"), path);
    return json_is_string(value) ? json_incref(value) : json_string("");
}

static json_t *environment_of(const json_t *pod, const json_t *container) {
    json_t *environment = json_object(), *entry;
    size_t i;

    json_array_foreach(json_object_get(container, "env"), i, entry) {
        const char *value = json_text_at(entry, "value");
        const char *field = json_text_at(entry, "valueFrom.fieldRef.fieldPath");
        set(environment, json_text_at(entry, "name"),
            field ? field_value(pod, field) : json_string(value ? value : ""));
    }
    return environment;
}

static const char *host_path(const json_t *pod, const char *volume) {
    size_t i;
    json_t *entry;

    json_array_foreach(json_at(pod, "object.spec.volumes"), i, entry) {
        if (text_equal(json_text_at(entry, "name"), volume))
            return json_text_at(entry, "hostPath.path");
    }
    return NULL;
}

static json_t *mounts_of(const json_t *pod, const json_t *container) {
    json_t *mounts = json_array(), *entry;
    size_t i;

    json_array_foreach(json_object_get(container, "volumeMounts"), i, entry) {
        const char *host = host_path(pod, json_text_at(entry, "name"));
        if (host)
            (void)json_array_append_new(mounts, /* fails on no memory only */
                                        json_pack("{s:s,s:s}", "host", host, "container",
                                                  json_text_at(entry, "mountPath")));
    }
    return mounts;
}

static void start(const json_t *pod, const json_t *container, json_t *state) {
    _cleanup_(json_decrefp_) json_t *answer = NULL;
    _cleanup_(json_decrefp_) json_t *request = json_pack(
        "{s:s,s:O,s:o,s:o,s:o,s:O*}", "op", "exec", "namespace", json_object_get(pod, "netns"),
        "command", command_of(container), "mounts", mounts_of(pod, container), "env",
        environment_of(pod, container), "hosts", json_object_get(pod, "hosts"));
    struct error err = {0};
    char now[RFC3339_TEXT_MAX];

    rfc3339_format(time(NULL), now);
    if (rig_ask(request, &answer, &err)) {
        klog('E', "StartContainer \"%s\": %s", json_text_at(container, "name"), err.message);
        set(state, "running", json_false());
        set(state, "exitCode", json_integer(128));
        set(state, "endedAt", json_integer(time(NULL)));
        return;
    }
    set(state, "handle", json_incref(json_object_get(answer, "handle")));
    set(state, "running", json_true());
    set(state, "startedAt", json_string(now));
}

void containers_start(json_t *pod) {
    json_t *states = json_array(), *container;
    size_t i;

    set(pod, "containers", states);
    json_array_foreach(json_at(pod, "object.spec.containers"), i, container) {
        json_t *state = json_pack("{s:O,s:O*,s:i}", "name", json_object_get(container, "name"),
                                  "image", json_object_get(container, "image"), "restarts", 0);
        (void)json_array_append_new(states, state); /* fails on no memory only */
        start(pod, container, state);
    }
}

static void note_end(json_t *state) {
    _cleanup_(json_decrefp_) json_t *answer = NULL;
    _cleanup_(json_decrefp_) json_t *request =
        json_pack("{s:s,s:O,s:i}", "op", "exec-wait", "handle", json_object_get(state, "handle"),
                  "timeoutMs", 0);
    struct error err = {0};

    if (rig_ask(request, &answer, &err) == 0 && json_bool_at(answer, "running", false))
        return;
    const char *output = json_text_at(answer, "output");
    klog('I', "container \"%s\" ended with %lld: %s", json_text_at(state, "name"),
         json_number_at(answer, "exit", -1), output ? output : err.message);
    set(state, "running", json_false());
    set(state, "exitCode", json_integer(json_number_at(answer, "exit", 255)));
    set(state, "endedAt", json_integer(time(NULL)));
}

static bool restarts(const json_t *pod, const json_t *state) {
    const char *policy = json_text_at(pod, "object.spec.restartPolicy");

    if (text_equal(policy, "Never"))
        return false;
    return !text_equal(policy, "OnFailure") || json_number_at(state, "exitCode", 0) != 0;
}

void containers_look_after(json_t *pod) {
    json_t *state;
    size_t i;

    json_array_foreach(json_object_get(pod, "containers"), i, state) {
        if (json_bool_at(state, "running", false))
            note_end(state);
        if (json_bool_at(state, "running", false) || !restarts(pod, state))
            continue;
        long long times = json_number_at(state, "restarts", 0);
        long long pause = times * BACKOFF_STEP_SECONDS;
        if (pause > BACKOFF_MAX_SECONDS)
            pause = BACKOFF_MAX_SECONDS;
        if (time(NULL) < json_number_at(state, "endedAt", 0) + pause)
            continue;
        set(state, "restarts", json_integer(times + 1));
        start(pod, json_array_get(json_at(pod, "object.spec.containers"), i), state);
    }
}

void containers_stop(json_t *pod) {
    json_t *state;
    size_t i;

    json_array_foreach(json_object_get(pod, "containers"), i, state) {
        _cleanup_(json_decrefp_) json_t *request =
            json_pack("{s:s,s:O}", "op", "exec-kill", "handle", json_object_get(state, "handle"));
        struct error err = {0};
        if (json_bool_at(state, "running", false) && rig_ask(request, NULL, &err))
            klog('W', "StopContainer \"%s\": %s", json_text_at(state, "name"), err.message);
        set(state, "running", json_false());
    }
}
