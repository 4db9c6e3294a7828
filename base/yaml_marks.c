/* Marks are looked up by the value itself: what took its place since then has none. */
#include "base/yaml_marks.h"

static void add(struct yaml_marks *marks, json_t *value, size_t line, size_t column) {
    if (json_is_null(value) || json_is_boolean(value))
        return;
    if (marks->count == marks->capacity) {
        marks->capacity = marks->capacity ? 2 * marks->capacity : 64;
        marks->items = xrealloc(marks->items, marks->capacity * sizeof *marks->items);
    }
    marks->items[marks->count++] = (struct yaml_mark){json_incref(value), line, column};
}

/* Both trees have the same shape. */
static void add_all(struct yaml_marks *marks, const struct yaml_node *node, json_t *json) {
    add(marks, json, yaml_line(node), yaml_column(node));
    for (size_t i = 0; yaml_type(node) == YAML_LIST && i < yaml_count(node); i++)
        add_all(marks, yaml_item(node, i), json_array_get(json, i));
    for (size_t i = 0; yaml_type(node) == YAML_MAP && i < yaml_count(node); i++)
        add_all(marks, yaml_value(node, i), json_object_get(json, yaml_key(node, i)));
}

json_t *yaml_to_json_marked(const struct yaml_node *node, const char *what,
                            struct yaml_marks *ret) {
    json_t *json = yaml_to_json(node);

    *ret = (struct yaml_marks){.what = xstrdup(what)};
    add_all(ret, node, json);
    return json;
}

void yaml_marks_free(struct yaml_marks *marks) {
    for (size_t i = 0; i < marks->count; i++)
        json_decref(marks->items[i].value);
    free(marks->items);
    free(marks->what);
    *marks = (struct yaml_marks){0};
}

static const struct yaml_mark *mark_of(const struct yaml_marks *marks, const json_t *value) {
    for (size_t i = 0; i < marks->count; i++)
        if (marks->items[i].value == value)
            return &marks->items[i];
    return NULL;
}

void yaml_marks_pass_on(struct yaml_marks *marks, const json_t *from, json_t *to) {
    const struct yaml_mark *mark = mark_of(marks, from);

    if (mark)
        add(marks, to, mark->line, mark->column);
}

/* The value that the first name of a path leads to; *path becomes the rest. */
static json_t *step(const json_t *value, const char **path) {
    size_t len = strcspn(*path, ".[]");
    _cleanup_(freep) char *name = xstrndup(*path, len);

    *path += len;
    *path += strspn(*path, ".[]");
    return json_is_array(value) ? json_array_get(value, strtoul(name, NULL, 10))
                                : json_object_get(value, name);
}

const struct yaml_mark *yaml_marks_find(const struct yaml_marks *marks, const json_t *document,
                                        const char *path) {
    const struct yaml_mark *found = marks ? mark_of(marks, document) : NULL;

    while (marks && *path) {
        document = step(document, &path);
        if (!document || json_is_null(document) || json_is_boolean(document))
            return found;
        found = mark_of(marks, document);
    }
    return found;
}
