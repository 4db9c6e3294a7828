/* Implements JSON Patch (RFC 6902), JSON Merge Patch (RFC 7386) and JSON Pointer (RFC 6901). */
#include "base/json.h"

#include <stdint.h>

/* ---- comparing and counting values ---- */

bool json_same(const json_t *a, const json_t *b) {
    if (json_is_number(a) && json_is_number(b))
        return json_is_integer(a) && json_is_integer(b)
                   ? json_integer_value(a) == json_integer_value(b)
                   : json_number_value(a) == json_number_value(b);
    if (json_is_array(a) && json_is_array(b)) {
        if (json_array_size(a) != json_array_size(b))
            return false;
        json_each(a, i, value)
            if (!json_same(value, json_array_get(b, i)))
                return false;
        return true;
    }
    if (json_is_object(a) && json_is_object(b)) {
        if (json_object_size(a) != json_object_size(b))
            return false;
        json_each_member(a, key, value)
            if (!json_same(value, json_object_get(b, key)))
                return false;
        return true;
    }
    return json_equal(a, b);
}

static size_t count_values(const json_t *json) {
    size_t count = 1;

    if (json_is_array(json))
        json_each(json, i, value)
            count += count_values(value);
    if (json_is_object(json))
        json_each_member(json, key, value)
            count += count_values(value);
    return count;
}

/* ---- JSON pointers ---- */

/* Reads an array index: "0" or digits without a leading zero. Returns -1 for any other text. */
static long long index_of(const char *token) {
    long long index;

    if (!*token || strspn(token, "0123456789") != strlen(token) || (token[0] == '0' && token[1]))
        return -1;
    return text_to_number(token, 0, INT32_MAX, &index) == 0 ? index : -1;
}

static json_t *child_of(const json_t *json, const char *token) {
    long long index;

    if (json_is_object(json))
        return json_object_get(json, token);
    index = json_is_array(json) ? index_of(token) : -1;
    return index < 0 ? NULL : json_array_get(json, (size_t)index);
}

void json_pointer_add(struct text *pointer, const char *key) {
    text_add_char(pointer, '/');
    for (; *key; key++)
        if (*key == '~' || *key == '/')
            text_add(pointer, *key == '~' ? "~0" : "~1");
        else
            text_add_char(pointer, *key);
}

/* ---- operations of a patch ---- */

struct state {
    json_t *document; /* Working copy of the document, which the operations change. */
    size_t copied;
};

/* The place that an operation changes: the container and the last part of the pointer. */
struct place {
    /* Object or array that holds the value; NULL when the place is the whole document. */
    json_t *parent;
    char *token;
};

static int find_place(const struct state *s, const char *path, struct place *ret,
                      struct error *err) {
    json_t *parent = s->document;

    if (!*path) {
        *ret = (struct place){0};
        return 0;
    }
    if (*path != '/')
        return error_set(err, ERROR_USAGE, "path \"%s\": a JSON pointer begins with '/'", path);
    for (const char *rest = path;;) {
        _cleanup_(text_free) struct text token = {0};

        for (rest++; *rest && *rest != '/'; rest++) {
            if (*rest == '~' && rest[1] != '0' && rest[1] != '1')
                return error_set(err, ERROR_USAGE, "path \"%s\": '~' must be followed by 0 or 1",
                                 path);
            text_add_char(&token, *rest != '~' ? *rest : rest[1] == '0' ? '~' : '/');
            rest += *rest == '~';
        }
        if (!*rest) {
            *ret = (struct place){parent, text_take(&token)};
            return 0;
        }
        parent = child_of(parent, text_str(&token));
        if (!json_is_object(parent) && !json_is_array(parent))
            return error_set(err, ERROR_USAGE,
                             "path \"%s\": there is no object or list at \"%.*s\"", path,
                             (int)(rest - path), path);
    }
}

static int no_value(const char *path, struct error *err) {
    return error_set(err, ERROR_USAGE, "path \"%s\": no such value", path);
}

/* Adds a value at the path (inserts it in a list); with `replace`, replaces the value that must be
 * there. Takes ownership of `value`. */
static int put_value(struct state *s, const char *path, json_t *value, bool replace,
                     struct error *err) {
    struct place place = {0};
    long long index;
    int result;

    if (!replace && !*path)
        result = error_set(err, ERROR_USAGE, "path \"\": the whole document can only be replaced");
    else
        result = find_place(s, path, &place, err);
    if (result == 0 && !place.parent) {
        json_decref(s->document);
        s->document = value;
        return 0;
    }
    if (result == 0 && replace && !child_of(place.parent, place.token))
        result = no_value(path, err);
    if (result == 0 && json_is_object(place.parent)) {
        json_object_set_new(place.parent, place.token, value);
    } else if (result == 0) {
        const size_t size = json_array_size(place.parent);

        index = !replace && text_equal(place.token, "-") ? (long long)size : index_of(place.token);
        if (index < 0 || (size_t)index > size)
            result = error_set(err, ERROR_USAGE, "path \"%s\": the list has %zu items", path, size);
        else if (replace)
            json_array_set_new(place.parent, (size_t)index, value);
        else
            json_array_insert_new(place.parent, (size_t)index, value);
    }
    if (result < 0)
        json_decref(value);
    free(place.token);
    return result;
}

static int remove_value(struct state *s, const char *path, struct error *err) {
    struct place place;
    int result;

    if (find_place(s, path, &place, err) < 0)
        return -1;
    if (!place.parent)
        return error_set(err, ERROR_USAGE, "path \"\": the whole document cannot be removed");
    if (!child_of(place.parent, place.token))
        result = no_value(path, err);
    else if (json_is_object(place.parent))
        result = json_object_del(place.parent, place.token);
    else
        result = json_array_remove(place.parent, (size_t)index_of(place.token));
    free(place.token);
    return result;
}

/* Finds the value that the pointer `path` names. *ret is a new reference. */
static int get_value(const struct state *s, const char *path, json_t **ret, struct error *err) {
    struct place place;
    json_t *value;

    if (find_place(s, path, &place, err) < 0)
        return -1;
    value = place.parent ? child_of(place.parent, place.token) : s->document;
    free(place.token);
    if (!value)
        return no_value(path, err);
    *ret = json_incref(value);
    return 0;
}

static int move_value(struct state *s, const char *from, const char *path, struct error *err) {
    json_t *value;
    size_t len = strlen(from);

    if (text_starts_with(path, from) && path[len] == '/')
        return error_set(err, ERROR_USAGE, "from \"%s\": cannot be moved into itself, to \"%s\"",
                         from, path);
    if (get_value(s, from, &value, err) < 0)
        return -1;
    if (text_equal(from, path)) {
        json_decref(value);
        return 0;
    }
    if (remove_value(s, from, err) < 0) {
        json_decref(value);
        return -1;
    }
    return put_value(s, path, value, false, err);
}

static int copy_value(struct state *s, const char *from, const char *path, struct error *err) {
    _cleanup_json_ json_t *value = NULL;

    if (!*from)
        return error_set(err, ERROR_USAGE, "from \"\": the whole document cannot be copied");
    if (get_value(s, from, &value, err) < 0)
        return -1;
    s->copied += count_values(value);
    if (s->copied > JSON_PATCH_COPIED_MAX)
        return error_set(err, ERROR_USAGE, "from \"%s\": the patch copies more than %d values",
                         from, JSON_PATCH_COPIED_MAX);
    return put_value(s, path, json_deep_copy(value), false, err);
}

static int test_value(const struct state *s, const char *path, const json_t *wanted,
                      struct error *err) {
    _cleanup_json_ json_t *value = NULL;
    _cleanup_(freep) char *is = NULL, *should = NULL;

    if (get_value(s, path, &value, err) < 0)
        return -1;
    if (json_same(value, wanted))
        return 0;
    is = json_write(value);
    should = json_write(wanted);
    return error_set(err, ERROR_USAGE, "path \"%s\": the test failed: it is %.200s, not %.200s",
                     path, is, should);
}

/* ---- the whole patch ---- */

enum operation { ADD, REMOVE, REPLACE, MOVE, COPY, TEST, OPERATION_COUNT };
enum needs { NEEDS_NOTHING, NEEDS_VALUE, NEEDS_FROM };
static const struct {
    const char *name;
    enum needs needs;
} operations[OPERATION_COUNT] = {
    [ADD] = {"add", NEEDS_VALUE},         [REMOVE] = {"remove", NEEDS_NOTHING},
    [REPLACE] = {"replace", NEEDS_VALUE}, [MOVE] = {"move", NEEDS_FROM},
    [COPY] = {"copy", NEEDS_FROM},        [TEST] = {"test", NEEDS_VALUE},
};

/* Reads the member `name` of an operation, which is required and must be a string. */
static int text_member(const json_t *operation, const char *name, const char **ret,
                       struct error *err) {
    *ret = json_string_value(json_object_get(operation, name));
    return *ret ? 0 : error_set(err, ERROR_USAGE, "\"%s\" is required and must be a string", name);
}

static int apply_one(struct state *s, const json_t *operation, const char **ret_name,
                     struct error *err) {
    const json_t *value = json_object_get(operation, "value");
    const char *name, *path, *from = "";
    enum operation op = 0;

    if (!json_is_object(operation))
        return error_set(err, ERROR_USAGE, "must be an object");
    if (text_member(operation, "op", &name, err) < 0)
        return -1;
    while (op < OPERATION_COUNT && !text_equal(operations[op].name, name))
        op++;
    if (op == OPERATION_COUNT)
        return error_set(err, ERROR_USAGE,
                         "op \"%s\" is not one of add, remove, replace, move, copy, test", name);
    *ret_name = operations[op].name;
    if (text_member(operation, "path", &path, err) < 0)
        return -1;
    if (operations[op].needs == NEEDS_FROM && text_member(operation, "from", &from, err) < 0)
        return -1;
    if (operations[op].needs == NEEDS_VALUE && !value)
        return error_set(err, ERROR_USAGE, "\"value\" is required");
    switch (op) {
    case ADD:
        return put_value(s, path, json_deep_copy(value), false, err);
    case REMOVE:
        return remove_value(s, path, err);
    case REPLACE:
        return put_value(s, path, json_deep_copy(value), true, err);
    case MOVE:
        return move_value(s, from, path, err);
    case COPY:
        return copy_value(s, from, path, err);
    case TEST:
        return test_value(s, path, value, err);
    case OPERATION_COUNT:
        break;
    }
    /* The code never gets here, because the loop above found the operation's name in the table. */
    return -1;
}

int json_patch_apply(const json_t *document, const json_t *patch, json_t **ret,
                     size_t *ret_operation, struct error *err) {
    size_t count = json_array_size(patch), i = 0;
    struct state s = {0};

    if (ret_operation)
        *ret_operation = count;
    if (!json_is_array(patch))
        return error_set(err, ERROR_USAGE, "a JSON patch is a list of operations");
    if (count > JSON_PATCH_OPERATIONS_MAX)
        return error_set(err, ERROR_USAGE, "more than %d operations", JSON_PATCH_OPERATIONS_MAX);
    s.document = json_deep_copy(document);
    for (; i < count; i++) {
        const char *name = NULL;

        if (apply_one(&s, json_array_get(patch, i), &name, err) == 0)
            continue;
        if (ret_operation)
            *ret_operation = i;
        json_decref(s.document);
        return name ? error_prefix(err, "operation %zu (%s)", i + 1, name)
                    : error_prefix(err, "operation %zu", i + 1);
    }
    *ret = s.document;
    return 0;
}

/* ---- merge patch ---- */

/* Returns a copy without members that are null, also in objects inside lists: kubeadm's library
 * (evanphx/json-patch) drops them there too. */
static json_t *without_nulls(const json_t *json) {
    json_t *result;

    if (json_is_array(json)) {
        result = json_array();
        json_each(json, i, value)
            json_array_append_new(result, without_nulls(value));
        return result;
    }
    if (!json_is_object(json))
        return json_deep_copy(json);
    result = json_object();
    json_each_member(json, key, value)
        if (!json_is_null(value))
            json_object_set_new(result, key, without_nulls(value));
    return result;
}

json_t *json_merge_patch(const json_t *target, const json_t *patch) {
    json_t *result;

    if (!json_is_object(patch))
        return without_nulls(patch);
    result = json_is_object(target) ? json_deep_copy(target) : json_object();
    json_each_member(patch, key, value)
        if (json_is_null(value))
            json_object_del(result, key);
        else
            json_object_set_new(result, key, json_merge_patch(json_object_get(result, key), value));
    return result;
}
