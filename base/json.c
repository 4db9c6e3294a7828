/* Reads and writes JSON with the library jansson and finds values by path. Other files use jansson
 * through these functions. Reading is strict. */
#include "base/json.h"

#include "base/text.h"

enum { JSON_TEXT_MAX = 32 * 1024 * 1024, JSON_MEMORY_MAX = 64 * 1024 * 1024 };

void json_decrefp_(json_t **json) {
    json_decref(*json);
    *json = NULL;
}

int json_read(const char *text, size_t len, const char *what, json_t **ret, struct error *err) {
    enum { VALUE = 40, KEY = 80, ARRAY = 120, OBJECT = 240 };
    bool quoted = false;
    size_t memory = 0;
    json_error_t why;
    json_t *json;

    if (len > JSON_TEXT_MAX)
        return error_set(err, ERROR_MALFORMED, "decode %s: longer than 32 MiB", what);
    /* Estimates the memory of the parsed values without their strings, before anything is
     * allocated. jansson needs 40 bytes for a number and 5 times that for "{}". A malicious server
     * could send many such values. */
    for (size_t i = 0; i < len; i++) {
        char c = text[i];

        if (c == '"')
            quoted = !quoted;
        else if (quoted)
            i += c == '\\';
        else
            memory += c == ',' ? VALUE : c == ':' ? KEY : c == '[' ? ARRAY : c == '{' ? OBJECT : 0;
    }
    if (memory > JSON_MEMORY_MAX)
        return error_set(err, ERROR_MALFORMED, "decode %s: its values take more than %d MiB", what,
                         JSON_MEMORY_MAX / 1024 / 1024);
    json = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &why);
    if (!json)
        return error_set(err, ERROR_MALFORMED, "decode %s: line %d column %d: %s", what, why.line,
                         why.column, why.text);
    *ret = json;
    return 0;
}

/* Do 15 digits represent each number of `json` exactly? With 17 digits, 0.015 can become
 * 0.014999999999999999. */
static bool is_short(const json_t *json) {
    char digits[32];

    if (json_is_real(json)) {
        (void)text_format(digits, sizeof digits, "%.15g", json_real_value(json));
        return strtod(digits, NULL) == json_real_value(json);
    }
    json_each(json, i, value)
        if (!is_short(value))
            return false;
    json_each_member(json, key, value)
        if (!is_short(value))
            return false;
    return true;
}

/* Writes JSON. jansson escapes only control characters below U+0020. DEL and the C1 controls
 * (U+0080 to U+009F), which occur only inside strings, control terminals too, so this function
 * escapes them. */
static char *dump(const json_t *json, size_t flags, const char *end) {
    struct text t = {0};
    char *raw =
        json_dumps(json, flags | JSON_ENCODE_ANY | JSON_REAL_PRECISION(is_short(json) ? 15 : 17));

    for (const char *p = raw ? raw : "null"; *p;) {
        size_t plain = strcspn(p, "\x7f\xc2");

        text_add_bytes(&t, p, plain);
        p += plain;
        if (*p == 0x7f)
            text_add(&t, "\\u007f");
        else if (*p && (unsigned char)p[1] < 0xa0)
            text_addf(&t, "\\u%04x", (unsigned char)*++p);
        else if (*p)
            text_add_char(&t, *p);
        p += *p != '\0';
    }
    text_add(&t, end);
    free(raw);
    return text_take(&t);
}

char *json_write(const json_t *json) {
    return dump(json, JSON_COMPACT, "");
}

char *json_write_pretty(const json_t *json) {
    return dump(json, JSON_INDENT(2), "\n");
}

void json_path_add(struct text *path, const char *key) {
    if (path->len)
        text_add_char(path, '.');
    for (; *key; key++) {
        if (strchr(".[]", *key))
            text_add_char(path, '\\');
        text_add_char(path, *key);
    }
}

json_t *json_step(const json_t *in, const char **path, char key[JSON_KEY_MAX]) {
    const char *p = *path + (**path == '[');
    long long index;
    size_t n = 0;

    for (; *p && !strchr(".[]", *p); p++) {
        if (p[0] == '\\' && p[1] && strchr(".[]", p[1]))
            p++;
        if (n + 1 >= JSON_KEY_MAX)
            return NULL;
        key[n++] = *p;
    }
    key[n] = '\0';
    *path = p + strspn(p, ".[]");
    if (!json_is_array(in))
        return json_object_get(in, key);
    return text_to_number(key, 0, 1 << 30, &index) == 0 ? json_array_get(in, (size_t)index) : NULL;
}

json_t *json_at(const json_t *json, const char *path) {
    char key[JSON_KEY_MAX];

    while (json && *path)
        json = json_step(json, &path, key);
    return (json_t *)json;
}

const char *json_text_at(const json_t *json, const char *path) {
    return json_string_value(json_at(json, path));
}

const char *json_text_or(const json_t *json, const char *path, const char *otherwise) {
    const char *text = json_text_at(json, path);

    return text ? text : otherwise;
}

long long json_number_at(const json_t *json, const char *path, long long fallback) {
    const json_t *found = json_at(json, path);

    return json_is_integer(found) ? json_integer_value(found) : fallback;
}

bool json_bool_at(const json_t *json, const char *path, bool fallback) {
    const json_t *found = json_at(json, path);

    return json_is_boolean(found) ? json_is_true(found) : fallback;
}

json_t *json_object_in(json_t *parent, const char *key) {
    if (!json_is_object(json_object_get(parent, key)))
        json_object_set_new(parent, key, json_object());
    return json_object_get(parent, key);
}

json_t *json_array_in(json_t *parent, const char *key) {
    if (!json_is_array(json_object_get(parent, key)))
        json_object_set_new(parent, key, json_array());
    return json_object_get(parent, key);
}

void json_set_text(json_t *object, const char *key, const char *text) {
    if (text && *text)
        json_object_set_new(object, key, json_string(text));
}

void json_put(json_t *object, const char *path, json_t *value) {
    const char *dot = strchr(path, '.');
    _cleanup_(freep) char *name = dot ? xstrndup(path, (size_t)(dot - path)) : xstrdup(path);

    if (dot)
        json_put(json_object_in(object, name), dot + 1, value);
    else
        json_object_set_new(object, name, value);
}

void json_sorted_keys(const json_t *object, struct text_list *ret) {
    json_each_member(object, key, value)
        text_list_add(ret, key);
    text_list_sort(ret);
}

json_t *json_texts(const struct text_list *list) {
    json_t *array = json_array();

    for (size_t i = 0; i < list->count; i++)
        json_array_append_new(array, json_string(list->items[i]));
    return array;
}

bool json_has_text(const json_t *array, const char *text) {
    json_each(array, i, item)
        if (json_is_string(item) && text_equal(json_string_value(item), text))
            return true;
    return false;
}

/* Returns a text that is the same for equal values: the item as sorted JSON, or only its member
 * `key` unless `key` is NULL. The caller frees it. */
static char *text_of_equals(const json_t *item, const char *key) {
    char *text = json_dumps(key ? json_object_get(item, key) : item,
                            JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);

    return text ? text : xstrdup("");
}

json_t *json_array_without(const json_t *items, const json_t *others, const char *key) {
    _cleanup_(text_table_free) struct text_table table = {0};
    json_t *rest = json_array();

    json_each(others, k, other) {
        _cleanup_(freep) char *text = text_of_equals(other, key);

        text_table_add(&table, text, "");
    }
    json_each(items, i, item) {
        _cleanup_(freep) char *text = text_of_equals(item, key);

        if (!text_table_get(&table, text))
            json_array_append(rest, item);
    }
    return rest;
}

void json_read_texts(const json_t *array, struct text_list *ret) {
    json_each(array, i, item)
        if (json_is_string(item))
            text_list_add(ret, json_string_value(item));
}
