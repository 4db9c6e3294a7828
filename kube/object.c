/* Handles the parts that all API objects have (kind, version, name), and ConfigMaps and Pods. */
#include "kube/object.h"

#include "base/redact.h"

enum { NAME_LENGTH_MAX = 253 };

bool kube_name_is_valid(const char *name) {
    size_t len = strlen(name);

    for (size_t i = 0; i < len; i++) {
        char ch = name[i];
        bool edge = i == 0 || i == len - 1 || name[i - 1] == '.' || name[i + 1] == '.';

        if (!((ch >= 'a' && ch <= 'z') || (ch >= '0' && ch <= '9') ||
              (!edge && (ch == '-' || (ch == '.' && name[i - 1] != '-')))))
            return false;
    }
    return len > 0 && len <= NAME_LENGTH_MAX;
}

/* Sets the error for an unexpected object. Some servers refuse a request with HTTP 200 and a
 * Status, so the Status's message is included. */
static int refuse(const json_t *object, const char *wanted, const char *found, struct error *err) {
    const char *message = json_text_at(object, "message");

    (void)error_set(err, ERROR_MALFORMED, "decode %s: unexpected object: %.100s", wanted, found);
    if (text_equal(found, "Status") && message)
        (void)error_prefix(err, "%.300s", message);
    return -1;
}

char *kube_full_name(const json_t *object) {
    return xasprintf("%s/%s", json_text_or(object, "metadata.namespace", ""),
                     json_text_or(object, "metadata.name", ""));
}

int kube_object_check(const json_t *object, const char *kind, const char *api_version,
                      struct error *err) {
    const struct {
        const char *field, *wanted;
    } words[] = {{"kind", kind}, {"apiVersion", api_version}};

    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        const json_t *value = json_object_get(object, words[i].field);
        const char *text = json_string_value(value);

        if (value && !json_is_null(value) && !text_equal(text, "") &&
            !text_equal(text, words[i].wanted))
            return refuse(object, kind, text ? text : words[i].field, err);
    }
    return 0;
}

int kube_list_items(const json_t *list, json_t **ret, struct error *err) {
    const char *kind = json_text_at(list, "kind");
    json_t *items = json_object_get(list, "items");

    if (kind && *kind && !text_ends_with(kind, "List"))
        return refuse(list, "list", kind, err);
    if ((items && !json_is_array(items) && !json_is_null(items)) || (!items && !(kind && *kind)))
        return error_set(err, ERROR_MALFORMED, "decode list: no items");
    *ret = json_is_array(items) ? items : NULL;
    return 0;
}

const json_t *kube_ready_condition(const json_t *object) {
    json_each(json_at(object, "status.conditions"), i, condition) {
        if (text_equal(json_text_at(condition, "type"), "Ready"))
            return condition;
    }
    return NULL;
}

/* ---- ConfigMaps ---- */

int kube_configmap_get(struct kube_client *client, const char *name_space, const char *name,
                       unsigned timeout_ms, json_t **ret, struct error *err) {
    _cleanup_(freep) char *path =
        xasprintf("/api/v1/namespaces/%s/configmaps/%s", name_space, name);
    _cleanup_json_ json_t *object = NULL;

    if (kube_get_retry(client, path, timeout_ms, &object, err) < 0 ||
        kube_object_check(object, "ConfigMap", "v1", err) < 0)
        return error_prefix(err, "get the %s ConfigMap in namespace \"%s\"", name, name_space);
    *ret = take_ptr(object);
    return 0;
}

const char *kube_configmap_value(const json_t *configmap, const char *key) {
    const char *value = json_string_value(json_object_get(json_at(configmap, "data"), key));

    return value && *value ? value : NULL;
}

/* Returns "Reason: message" of a container's state without secrets, or NULL if it has no reason.
 * The caller frees the text. */
static char *reason_of(const json_t *state) {
    const char *reason = json_text_at(state, "reason"), *message = json_text_at(state, "message");
    char *words;

    if (!reason)
        return NULL;
    words = message ? xasprintf("%s: %s", reason, message) : xstrdup(reason);
    redact_tokens(words);
    return words;
}

char *kube_pod_waiting(const json_t *pod) {
    const char *phase = json_text_at(pod, "status.phase");
    _cleanup_(freep) char *words = NULL;

    json_each(json_at(pod, "status.containerStatuses"), i, container) {
        words = reason_of(json_at(container, "state.waiting"));
        if (words)
            return take_ptr(words);
    }
    /* The Pod itself has a reason when it was evicted or rejected. */
    words = reason_of(json_at(pod, "status"));
    return !phase || text_equal(phase, "Running") ? NULL
           : words                                ? xasprintf("%s: %s", phase, words)
                                                  : xstrdup(phase);
}
