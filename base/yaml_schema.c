/* Strict reading of YAML by a table of fields. */
#include "base/yaml_schema.h"

#include <stdint.h>

#include "base/memory.h"
#include "base/nearest.h"
#include "base/rfc3339.h"

struct check {
    const char *what;
    bool lenient; /* unknown fields are no error */
    struct error *err;
};

static int check_object(const struct check *c, const struct yaml_node *node, const char *path,
                        const struct yaml_field *fields);

static int refuse(const struct check *c, const struct yaml_node *node, const char *path,
                  const char *wanted) {
    return error_set(c->err, ERROR_USAGE, "%s: line %zu column %zu: %s%smust be %s", c->what,
                     yaml_line(node), yaml_column(node), path, *path ? ": " : "", wanted);
}

static size_t count_of(const struct yaml_field *fields) {
    size_t n = 0;

    while (fields[n].name)
        n++;
    return n;
}

static int hint_near(const struct check *c, const char *key, const struct yaml_field *fields) {
    size_t count = count_of(fields), n = 0;
    _cleanup_(freep) const char **names = xcalloc(count + 1, sizeof *names);

    for (size_t i = 0; i < count; i++) {
        if (fields[i].type == YAML_FIELD_MOVED && text_equal(fields[i].name, key))
            return error_hint(c->err, "did you mean %s?", fields[i].fields->name);
        if (fields[i].type != YAML_FIELD_MOVED)
            names[n++] = fields[i].name;
    }
    return nearest_hint(c->err, "", key, names, n);
}

/* Key i of `map` is not in the table. */
static int unknown_name(const struct check *c, const struct yaml_node *map, size_t i,
                        const char *path, const struct yaml_field *fields) {
    if (c->lenient)
        return 0;
    (void)error_set(c->err, ERROR_USAGE, "%s: line %zu column %zu: unknown field \"%.200s\"",
                    c->what, yaml_key_line(map, i), yaml_key_column(map, i), path);
    return hint_near(c, yaml_key(map, i), fields);
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

static int check_objects(const struct check *c, const struct yaml_node *node, const char *path,
                         const struct yaml_field *fields) {
    if (yaml_type(node) != YAML_LIST)
        return refuse(c, node, path, "a list of objects");
    for (size_t i = 0; i < yaml_count(node); i++) {
        _cleanup_(freep) char *at = xasprintf("%s[%zu]", path, i);

        if (yaml_type(yaml_item(node, i)) != YAML_NULL &&
            check_object(c, yaml_item(node, i), at, fields) < 0)
            return -1;
    }
    return 0;
}

static int check_value(const struct check *c, const struct yaml_node *node, const char *path,
                       const struct yaml_field *field) {
    if (yaml_type(node) == YAML_NULL)
        return 0;
    switch (field->type) {
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
    case YAML_FIELD_OBJECT:
        return check_object(c, node, path, field->fields);
    case YAML_FIELD_OBJECTS:
        return check_objects(c, node, path, field->fields);
    case YAML_FIELD_MOVED:
        break; /* an unknown name */
    }
    return -1;
}

static int check_object(const struct check *c, const struct yaml_node *node, const char *path,
                        const struct yaml_field *fields) {
    if (yaml_type(node) != YAML_MAP)
        return refuse(c, node, path, "an object");
    for (size_t i = 0; i < yaml_count(node); i++) {
        const char *key = yaml_key(node, i);
        const struct yaml_field *field = fields;
        _cleanup_(freep) char *at = xasprintf("%s%s%s", path, *path ? "." : "", key);

        while (field->name && !text_equal(field->name, key))
            field++;
        if ((field->name && field->type != YAML_FIELD_MOVED
                 ? check_value(c, yaml_value(node, i), at, field)
                 : unknown_name(c, node, i, at, fields)) < 0)
            return -1;
    }
    return 0;
}

int yaml_schema_check(const struct yaml_node *node, const struct yaml_field *fields,
                      const char *what, struct error *err) {
    const struct check c = {.what = what, .err = err};

    return check_object(&c, node, "", fields);
}

int yaml_schema_check_known(const struct yaml_node *node, const struct yaml_field *fields,
                            const char *what, struct error *err) {
    const struct check c = {.what = what, .lenient = true, .err = err};

    return check_object(&c, node, "", fields);
}
