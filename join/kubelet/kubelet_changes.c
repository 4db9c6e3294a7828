/* Lists differences of config.yaml from the cluster's KubeletConfiguration, also as JSON. */
#include "base/json.h"
#include "join/kubelet/kubelet_files.h"

void kubelet_changes_free(struct kubelet_changes *changes) {
    for (size_t i = 0; i < changes->count; i++) {
        struct kubelet_change *c = &changes->items[i];

        free(c->path);
        json_decref(c->from);
        json_decref(c->to);
        free(c->reason);
    }
    free(changes->items);
    text_list_free(&changes->warnings);
    *changes = (struct kubelet_changes){0};
}

void kubelet_changes_add(struct kubelet_changes *changes, const char *path, const json_t *from,
                         const json_t *to, const char *reason) {
    array_add(changes->items, changes->count,
              (struct kubelet_change){
                  .path = xstrdup(path),
                  .from = from ? json_deep_copy(from) : NULL,
                  .to = to ? json_deep_copy(to) : NULL,
                  .reason = xstrdup(reason),
              });
}

/* Returns the path of a field; a key with dots is put in brackets. The caller frees the path. */
static char *path_of(const char *parent, const char *key) {
    if (!*parent)
        return xstrdup(key);
    return strchr(key, '.') ? xasprintf("%s[%s]", parent, key) : xasprintf("%s.%s", parent, key);
}

void kubelet_changes_compare(struct kubelet_changes *changes, const char *parent,
                             const json_t *before, const json_t *after, const char *reason) {
    json_each_member(before, key, value) {
        _cleanup_(freep) char *path = path_of(parent, key);
        const json_t *now = json_object_get(after, key);

        if (json_is_object(value) && json_is_object(now))
            kubelet_changes_compare(changes, path, value, now, reason);
        else if (!now || !json_same(value, now))
            kubelet_changes_add(changes, path, value, now, reason);
    }
    json_each_member(after, key, value) {
        _cleanup_(freep) char *path = path_of(parent, key);

        if (!json_object_get(before, key))
            kubelet_changes_add(changes, path, NULL, value, reason);
    }
}

json_t *kubelet_changes_json(const struct kubelet_changes *changes) {
    json_t *array = json_array();

    for (size_t i = 0; i < changes->count; i++) {
        const struct kubelet_change *c = &changes->items[i];

        json_array_append_new(array, json_pack("{s:s, s:O*, s:O*, s:s}", "path", c->path, "from",
                                               c->from, "to", c->to, "reason", c->reason));
    }
    return array;
}
