/* Strict reading of YAML by a table of fields. */
#include "base/yaml_schema.h"

#include "base/nearest.h"
#include "base/rfc3339.h"

struct check {
    const struct yaml_field *fields;
    unsigned version;
    const char *what;
    bool lenient; /* unknown fields are no error */
    struct error *err;
};

/* Where the reading is: as messages name it ("taints[2].key"), and as the table does. */
struct place {
    const char *shown, *path;
};

static int check_object(const struct check *c, const struct yaml_node *node, struct place place);

static int refuse(const struct check *c, const struct yaml_node *node, const char *path,
                  const char *wanted) {
    return error_set(c->err, ERROR_USAGE, "%s: line %zu column %zu: %s%smust be %s", c->what,
                     yaml_line(node), yaml_column(node), path, *path ? ": " : "", wanted);
}

static bool is_of_version(const struct check *c, const struct yaml_field *field) {
    return !field->versions || field->versions & c->version;
}

/* What the table says of a path: NULL, or the rest of the first row that begins with it, "" for the
 * field itself (*ret), ".name" in an object, "[].name" in a list of objects. */
static const char *find(const struct check *c, const char *path, const struct yaml_field **ret) {
    size_t len = strlen(path);

    for (*ret = c->fields; (*ret)->path; (*ret)++)
        if (is_of_version(c, *ret) && strncmp((*ret)->path, path, len) == 0 &&
            strchr(".[", (*ret)->path[len]))
            return (*ret)->path + len;
    return NULL;
}

/* The names beside it in the same object. */
static int hint_near(const struct check *c, const char *key, const char *path) {
    size_t before = strlen(path) - strlen(key);
    _cleanup_(text_list_free) struct text_list names = {0};

    for (const struct yaml_field *field = c->fields; field->path; field++) {
        const char *name = field->path + before;

        if (!is_of_version(c, field) && field->moved && text_equal(field->path, path))
            return error_hint(c->err, "did you mean %s?", field->moved);
        if (is_of_version(c, field) && strncmp(field->path, path, before) == 0)
            text_list_add_owned(&names, xstrndup(name, strcspn(name, ".[")));
    }
    return nearest_hint(c->err, "", key, (const char *const *)names.items, names.count);
}

/* Key i of `map` is not in the table. */
static int unknown_name(const struct check *c, const struct yaml_node *map, size_t i,
                        struct place place) {
    if (c->lenient)
        return 0;
    (void)error_set(c->err, ERROR_USAGE, "%s: line %zu column %zu: unknown field \"%.200s\"",
                    c->what, yaml_key_line(map, i), yaml_key_column(map, i), place.shown);
    return hint_near(c, yaml_key(map, i), place.path);
}

/* What a scalar is to Go: the same reading that turns it into JSON. */
static bool is_type(const struct yaml_node *node, json_type type) {
    _cleanup_json_ json_t *json = NULL;

    if (yaml_is_text(node)) /* no copy of what may be a secret */
        return type == JSON_STRING;
    json = yaml_type(node) == YAML_SCALAR ? yaml_to_json(node) : NULL;
    return json && json_typeof(json) == type;
}

static bool is_number(const struct yaml_node *node) {
    _cleanup_json_ json_t *json = yaml_type(node) == YAML_SCALAR ? yaml_to_json(node) : NULL;

    return json_is_integer(json) && json_integer_value(json) >= INT32_MIN &&
           json_integer_value(json) <= INT32_MAX;
}

static bool is_duration(const struct yaml_node *node) {
    int64_t nanoseconds;

    return is_type(node, JSON_STRING) &&
           go_duration_read(yaml_text(node), &nanoseconds, NULL) == 0 && nanoseconds >= 0;
}

static bool is_time(const struct yaml_node *node) {
    int64_t seconds;

    return is_type(node, JSON_STRING) && rfc3339_parse(yaml_text(node), &seconds, NULL) == 0;
}

static int check_text(const struct check *c, const struct yaml_node *node, const char *path) {
    return yaml_type(node) == YAML_NULL || is_type(node, JSON_STRING)
               ? 0
               : refuse(c, node, path, "a string (quote values that YAML reads as another type)");
}

/* A list or a map. */
static int check_texts(const struct check *c, const struct yaml_node *node, const char *path) {
    for (size_t i = 0; i < yaml_count(node); i++) {
        bool is_list = yaml_type(node) == YAML_LIST;
        _cleanup_(freep) char *at =
            is_list ? xasprintf("%s[%zu]", path, i) : xasprintf("%s.%s", path, yaml_key(node, i));

        if (check_text(c, is_list ? yaml_item(node, i) : yaml_value(node, i), at) < 0)
            return -1;
    }
    return 0;
}

static int check_objects(const struct check *c, const struct yaml_node *node, struct place place) {
    _cleanup_(freep) char *path = xasprintf("%s[]", place.path);

    if (yaml_type(node) != YAML_LIST)
        return refuse(c, node, place.shown, "a list of objects");
    for (size_t i = 0; i < yaml_count(node); i++) {
        _cleanup_(freep) char *shown = xasprintf("%s[%zu]", place.shown, i);

        if (yaml_type(yaml_item(node, i)) != YAML_NULL &&
            check_object(c, yaml_item(node, i), (struct place){shown, path}) < 0)
            return -1;
    }
    return 0;
}

static int check_field(const struct check *c, const struct yaml_node *node, struct place place,
                       enum yaml_field_type type) {
    const char *path = place.shown;

    switch (type) {
    case YAML_FIELD_TEXT:
        return check_text(c, node, path);
    case YAML_FIELD_BOOL:
        return is_type(node, JSON_TRUE) || is_type(node, JSON_FALSE)
                   ? 0
                   : refuse(c, node, path, "true or false");
    case YAML_FIELD_NUMBER:
        return is_number(node) ? 0 : refuse(c, node, path, "a 32-bit integer");
    case YAML_FIELD_DURATION:
        return is_duration(node)
                   ? 0
                   : refuse(c, node, path, "a duration like 30s, 5m or 1m30s, not a negative one");
    case YAML_FIELD_TIME:
        return is_time(node) ? 0 : refuse(c, node, path, "a time like 2026-11-21T10:00:04Z");
    case YAML_FIELD_TEXTS:
        return yaml_type(node) == YAML_LIST ? check_texts(c, node, path)
                                            : refuse(c, node, path, "a list of strings");
    case YAML_FIELD_TEXT_MAP:
        return yaml_type(node) == YAML_MAP ? check_texts(c, node, path)
                                           : refuse(c, node, path, "an object with string values");
    case YAML_FIELD_EMPTY:
        return check_object(c, node, place);
    }
    return -1;
}

static int check_object(const struct check *c, const struct yaml_node *node, struct place place) {
    const char *dot = *place.path ? "." : "";

    if (yaml_type(node) != YAML_MAP)
        return refuse(c, node, place.shown, "an object");
    for (size_t i = 0; i < yaml_count(node); i++) {
        const char *key = yaml_key(node, i);
        const struct yaml_node *value = yaml_value(node, i);
        _cleanup_(freep) char *shown = xasprintf("%s%s%s", place.shown, dot, key),
                              *path = xasprintf("%s%s%s", place.path, dot, key);
        const struct place at = {shown, path};
        const struct yaml_field *field;
        const char *rest = strpbrk(key, ".[") ? NULL : find(c, path, &field);
        int result = 0;

        if (!rest)
            result = unknown_name(c, node, i, at);
        else if (yaml_type(value) != YAML_NULL)
            result = !*rest         ? check_field(c, value, at, field->type)
                     : *rest == '.' ? check_object(c, value, at)
                                    : check_objects(c, value, at);
        if (result < 0)
            return -1;
    }
    return 0;
}

int yaml_schema_check(const struct yaml_node *node, const struct yaml_field *fields,
                      unsigned version, const char *what, struct error *err) {
    const struct check c = {.fields = fields, .version = version, .what = what, .err = err};

    return check_object(&c, node, (struct place){"", ""});
}

int yaml_schema_check_known(const struct yaml_node *node, const struct yaml_field *fields,
                            const char *what, struct error *err) {
    const struct check c = {.fields = fields, .what = what, .lenient = true, .err = err};

    return check_object(&c, node, (struct place){"", ""});
}
