/* Checks YAML documents strictly against a table of fields. */
#include "base/yaml.h"

#include "base/nearest.h"
#include "base/rfc3339.h"

struct check {
    const struct yaml *yaml;
    const struct yaml_field *fields;
    unsigned version;
    bool lenient; /* True when unknown fields are ignored. */
    struct error *err;
};

/* A value during the check, with its container, its path in messages ("taints[2].key") and its path
 * in the table ("taints[].key"). */
struct place {
    const json_t *value, *in;
    const char *key; /* Key of the value in an object; NULL for item `i` of a list. */
    size_t i;
    const char *shown, *path;
};

static int check_object(const struct check *c, const struct place *at);

static int refuse(const struct check *c, const struct place *at, const char *wanted) {
    return yaml_refuse(c->yaml,
                       at->in ? yaml_place_in(c->yaml, at->in, at->key, at->i)
                              : yaml_place(c->yaml, at->value, ""),
                       c->err, ERROR_USAGE, "%s%smust be %s", at->shown, *at->shown ? ": " : "",
                       wanted);
}

static bool is_of_version(const struct check *c, const struct yaml_field *field) {
    return !field->versions || field->versions & c->version;
}

/* Looks up a path in the table. Returns the rest of the first row that begins with it: "" for the
 * field itself, ".name" for an object, "[].name" for a list of objects; NULL when the path is
 * unknown. *ret is that row. */
static const char *find(const struct check *c, const char *path, const struct yaml_field **ret) {
    size_t len = strlen(path);

    for (*ret = c->fields; (*ret)->path; (*ret)++)
        if (is_of_version(c, *ret) && strncmp((*ret)->path, path, len) == 0 &&
            strchr(".[", (*ret)->path[len]))
            return (*ret)->path + len;
    return NULL;
}

static int unknown_name(const struct check *c, const struct place *at) {
    size_t before = strlen(at->path) - strlen(at->key);
    _cleanup_(text_list_free) struct text_list names = {0};

    if (c->lenient)
        return 0;
    (void)yaml_refuse(c->yaml, yaml_key_place(c->yaml, at->in, at->key), c->err, ERROR_USAGE,
                      "unknown field \"%.200s\"", at->shown);
    /* Collect the known names of the same object for the hint. */
    for (const struct yaml_field *field = c->fields; field->path; field++) {
        const char *name = field->path + before;

        if (!is_of_version(c, field) && field->moved && text_equal(field->path, at->path))
            return error_hint(c->err, "did you mean %s?", field->moved);
        if (is_of_version(c, field) && strncmp(field->path, at->path, before) == 0)
            text_list_add_owned(&names, xstrndup(name, strcspn(name, ".[")));
    }
    return nearest_hint(c->err, "", at->key, (const char *const *)names.items, names.count);
}

static int check_text(const struct check *c, const struct place *at) {
    return json_is_null(at->value) || json_is_string(at->value)
               ? 0
               : refuse(c, at, "a string (quote values that YAML reads as another type)");
}

static int check_texts(const struct check *c, const struct place *at) {
    json_each(at->value, i, item) {
        _cleanup_(freep) char *shown = xasprintf("%s[%zu]", at->shown, i);

        if (check_text(c, &(struct place){item, at->value, NULL, i, shown, ""}) < 0)
            return -1;
    }
    json_each_member(at->value, key, value) {
        _cleanup_(freep) char *shown = xasprintf("%s.%s", at->shown, key);

        if (check_text(c, &(struct place){value, at->value, key, 0, shown, ""}) < 0)
            return -1;
    }
    return 0;
}

static int check_objects(const struct check *c, const struct place *at) {
    _cleanup_(freep) char *path = xasprintf("%s[]", at->path);

    if (!json_is_array(at->value))
        return refuse(c, at, "a list of objects");
    json_each(at->value, i, item) {
        _cleanup_(freep) char *shown = xasprintf("%s[%zu]", at->shown, i);

        if (!json_is_null(item) &&
            check_object(c, &(struct place){item, at->value, NULL, i, shown, path}) < 0)
            return -1;
    }
    return 0;
}

static int check_field(const struct check *c, const struct place *at, enum yaml_field_type type) {
    const json_t *value = at->value;
    const char *text = json_string_value(value);
    int64_t number = 0;

    switch (type) {
    case YAML_FIELD_TEXT:
        return check_text(c, at);
    case YAML_FIELD_BOOL:
        return json_is_boolean(value) ? 0 : refuse(c, at, "true or false");
    case YAML_FIELD_NUMBER:
        return json_is_integer(value) && json_integer_value(value) >= INT32_MIN &&
                       json_integer_value(value) <= INT32_MAX
                   ? 0
                   : refuse(c, at, "a 32-bit integer");
    case YAML_FIELD_DURATION:
        return text && go_duration_read(text, &number, NULL) == 0 && number >= 0
                   ? 0
                   : refuse(c, at, "a duration like 30s, 5m or 1m30s, not a negative one");
    case YAML_FIELD_TIME:
        return text && rfc3339_parse(text, &number, NULL) == 0
                   ? 0
                   : refuse(c, at, "a time like 2026-11-21T10:00:04Z");
    case YAML_FIELD_TEXTS:
        return json_is_array(value) ? check_texts(c, at) : refuse(c, at, "a list of strings");
    case YAML_FIELD_TEXT_MAP:
        return json_is_object(value) ? check_texts(c, at)
                                     : refuse(c, at, "an object with string values");
    case YAML_FIELD_EMPTY:
        return check_object(c, at);
    }
    return -1;
}

static int check_object(const struct check *c, const struct place *at) {
    const char *dot = *at->path ? "." : "";

    if (!json_is_object(at->value))
        return refuse(c, at, "an object");
    json_each_member(at->value, key, value) {
        _cleanup_(freep) char *shown = xasprintf("%s%s%s", at->shown, dot, key),
                              *path = xasprintf("%s%s%s", at->path, dot, key);
        const struct place member = {value, at->value, key, 0, shown, path};
        const struct yaml_field *field;
        const char *rest = strpbrk(key, ".[") ? NULL : find(c, path, &field);
        int result = 0;

        if (!rest)
            result = unknown_name(c, &member);
        else if (!json_is_null(value))
            result = !*rest         ? check_field(c, &member, field->type)
                     : *rest == '.' ? check_object(c, &member)
                                    : check_objects(c, &member);
        if (result < 0)
            return -1;
    }
    return 0;
}

int yaml_schema_check(const struct yaml *yaml, const json_t *document,
                      const struct yaml_field *fields, unsigned version, struct error *err) {
    const struct check c = {.yaml = yaml, .fields = fields, .version = version, .err = err};

    return check_object(&c, &(struct place){.value = document, .shown = "", .path = ""});
}

int yaml_schema_check_known(const struct yaml *yaml, const json_t *document,
                            const struct yaml_field *fields, struct error *err) {
    const struct check c = {.yaml = yaml, .fields = fields, .lenient = true, .err = err};

    return check_object(&c, &(struct place){.value = document, .shown = "", .path = ""});
}
