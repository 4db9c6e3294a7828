/* Strict reading of YAML by a table of fields. */
#include "base/yaml_schema.h"

#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "base/nearest.h"
#include "base/quantity.h"
#include "base/rfc3339.h"

struct check {
    const char *what;
    bool lenient;              /* unknown fields are no error */
    struct text_list *unknown; /* where they are named, or NULL */
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

/* "did you mean", or NULL. */
static const char *near_name(const char *key, const struct yaml_field *fields) {
    size_t count = count_of(fields);
    _cleanup_(freep) const char **names = xcalloc(count + 1, sizeof *names);

    for (size_t n = 0; n < count; n++)
        names[n] = fields[n].name;
    return nearest_name(key, names, count);
}

/* Key i of `map` is not in the table. */
static int unknown_name(const struct check *c, const struct yaml_node *map, size_t i,
                        const char *path, const struct yaml_field *fields) {
    const char *near = near_name(yaml_key(map, i), fields);

    if (c->lenient && (!c->unknown || c->unknown->count >= YAML_UNKNOWN_MAX))
        return 0;
    if (c->lenient) {
        text_list_add_owned(c->unknown,
                            xasprintf("\"%.200s\"%s%s%s", path, near ? " (did you mean " : "",
                                      near ? near : "", near ? "?)" : ""));
        return 0;
    }
    (void)error_set(c->err, ERROR_USAGE, "%s: line %zu column %zu: unknown field \"%.200s\"",
                    c->what, yaml_key_line(map, i), yaml_key_column(map, i), path);
    return near ? error_hint(c->err, "did you mean %s?", near) : -1;
}

/* What a scalar is to Go: the same reading that turns it into JSON. */
static bool is_type(const struct yaml_node *node, json_type type) {
    _cleanup_json_ json_t *json = yaml_type(node) == YAML_SCALAR ? yaml_to_json(node) : NULL;

    return json && json_typeof(json) == type;
}

static bool is_whole(const struct yaml_node *node, json_int_t least, json_int_t most) {
    _cleanup_json_ json_t *json = yaml_type(node) == YAML_SCALAR ? yaml_to_json(node) : NULL;

    return json_is_integer(json) && json_integer_value(json) >= least &&
           json_integer_value(json) <= most;
}

static bool is_number(const struct yaml_node *node) {
    return is_whole(node, INT32_MIN, INT32_MAX);
}

static bool is_level(const struct yaml_node *node) {
    return is_whole(node, 0, UINT32_MAX);
}

static bool is_boolean(const struct yaml_node *node) {
    return is_type(node, JSON_TRUE) || is_type(node, JSON_FALSE);
}

static bool is_duration(const struct yaml_node *node, bool may_be_negative) {
    int64_t nanoseconds;

    return is_type(node, JSON_STRING) &&
           go_duration_read(yaml_text(node), &nanoseconds, NULL) == 0 &&
           (may_be_negative || nanoseconds >= 0);
}

/* Go knows neither small letters nor leap seconds in a time. */
static bool is_time(const struct yaml_node *node) {
    int64_t seconds;

    return is_type(node, JSON_STRING) && rfc3339_parse(yaml_text(node), &seconds, NULL) == 0 &&
           !strpbrk(yaml_text(node), "tz") && !text_starts_with(yaml_text(node) + 17, "60");
}

static bool is_quantity(const struct yaml_node *node) {
    return yaml_type(node) == YAML_SCALAR && quantity_is(yaml_text(node));
}

static bool is_frequency(const struct yaml_node *node) {
    return is_duration(node, true) || is_type(node, JSON_INTEGER);
}

/* What a list or a map holds, and how that is said. */
typedef bool is_item(const struct yaml_node *node);
static bool is_text(const struct yaml_node *node) {
    return is_type(node, JSON_STRING);
}
static const char a_text[] = "a text (quote what YAML takes for something else)";

static int check_item(const struct check *c, const struct yaml_node *item, const char *path,
                      is_item *test, const char *wanted) {
    return yaml_type(item) == YAML_NULL || test(item) ? 0 : refuse(c, item, path, wanted);
}

static int check_list(const struct check *c, const struct yaml_node *node, const char *path,
                      const char *wanted, is_item *test, const char *item_wanted) {
    if (yaml_type(node) != YAML_LIST)
        return refuse(c, node, path, wanted);
    for (size_t i = 0; i < yaml_count(node); i++) {
        _cleanup_(freep) char *at = xasprintf("%s[%zu]", path, i);

        if (check_item(c, yaml_item(node, i), at, test, item_wanted) < 0)
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

/* test NULL: lists of texts. */
static int check_map(const struct check *c, const struct yaml_node *node, const char *path,
                     const char *wanted, is_item *test, const char *item_wanted) {
    if (yaml_type(node) != YAML_MAP)
        return refuse(c, node, path, wanted);
    for (size_t i = 0; i < yaml_count(node); i++) {
        const struct yaml_node *value = yaml_value(node, i);
        _cleanup_(freep) char *at = xasprintf("%s.%s", path, yaml_key(node, i));

        if (test ? check_item(c, value, at, test, item_wanted) < 0
                 : yaml_type(value) != YAML_NULL &&
                       check_list(c, value, at, "a list of texts", is_text, a_text) < 0)
            return -1;
    }
    return 0;
}

static int check_value(const struct check *c, const struct yaml_node *node, const char *path,
                       const struct yaml_field *field) {
    if (yaml_type(node) == YAML_NULL && field->type != YAML_FIELD_GIVEN_DURATION)
        return 0;
    switch (field->type) {
    case YAML_FIELD_TEXT:
        return is_text(node) ? 0 : refuse(c, node, path, a_text);
    case YAML_FIELD_BOOL:
        return is_boolean(node) ? 0 : refuse(c, node, path, "true or false");
    case YAML_FIELD_NUMBER:
        return is_number(node) ? 0 : refuse(c, node, path, "a whole number of 32 bits");
    case YAML_FIELD_LEVEL:
        return is_level(node) ? 0 : refuse(c, node, path, "a whole number, not a negative one");
    case YAML_FIELD_INT64:
        return is_type(node, JSON_INTEGER) ? 0 : refuse(c, node, path, "a whole number");
    case YAML_FIELD_REAL:
        return is_type(node, JSON_INTEGER) || is_type(node, JSON_REAL)
                   ? 0
                   : refuse(c, node, path, "a number");
    case YAML_FIELD_ANY:
        return 0;
    case YAML_FIELD_DURATION:
        return is_duration(node, false)
                   ? 0
                   : refuse(c, node, path, "a duration like 30s, 5m or 1m30s, not a negative one");
    case YAML_FIELD_GIVEN_DURATION:
    case YAML_FIELD_SIGNED_DURATION:
        return is_duration(node, true) ? 0
                                       : refuse(c, node, path, "a duration like 30s, 5m or 1m30s");
    case YAML_FIELD_TIME:
        return is_time(node) ? 0 : refuse(c, node, path, "a time like 2026-11-21T10:00:04Z");
    case YAML_FIELD_FREQUENCY:
        return is_frequency(node) ? 0 : refuse(c, node, path, "a duration or a whole number");
    case YAML_FIELD_QUANTITY:
        return is_quantity(node) ? 0 : refuse(c, node, path, "a quantity like 500m or 1Gi");
    case YAML_FIELD_TEXTS:
        return check_list(c, node, path, "a list of texts", is_text, a_text);
    case YAML_FIELD_NUMBERS:
        return check_list(c, node, path, "a list of numbers", is_number,
                          "a whole number of 32 bits");
    case YAML_FIELD_TEXT_MAP:
        return check_map(c, node, path, "an object of names and texts", is_text, a_text);
    case YAML_FIELD_BOOL_MAP:
        return check_map(c, node, path, "an object of names, true and false", is_boolean,
                         "true or false");
    case YAML_FIELD_TEXTS_MAP:
        return check_map(c, node, path, "an object of names and lists", NULL, NULL);
    case YAML_FIELD_QUANTITY_MAP:
        return check_map(c, node, path, "an object of names and quantities", is_quantity,
                         "a quantity like 500m or 1Gi");
    case YAML_FIELD_OBJECT:
        return check_object(c, node, path, field->fields);
    case YAML_FIELD_OBJECTS:
        return check_objects(c, node, path, field->fields);
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
        if ((field->name ? check_value(c, yaml_value(node, i), at, field)
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
                            const char *what, struct text_list *ret_unknown, struct error *err) {
    const struct check c = {.what = what, .lenient = true, .unknown = ret_unknown, .err = err};

    return check_object(&c, node, "", fields);
}
