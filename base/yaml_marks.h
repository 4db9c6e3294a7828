/* Where the values of a JSON document stand in the YAML text that they were read from, so that
 * whoever judges them later can say so. */
#pragma once

#include "base/yaml.h"

struct yaml_mark {
    json_t *value; /* a reference, so that no other value gets its address */
    size_t line, column;
};
struct yaml_marks {
    char *what; /* the text's name */
    struct yaml_mark *items;
    size_t count, capacity;
};

/* yaml_to_json(), with a mark for each of its values but null, true and false, which jansson has
 * but once. *ret is freed by yaml_marks_free(); the document must not be older than it. */
json_t *yaml_to_json_marked(const struct yaml_node *node, const char *what, struct yaml_marks *ret);
void yaml_marks_free(struct yaml_marks *marks);
/* A value that was made of another has the place of that one. */
void yaml_marks_pass_on(struct yaml_marks *marks, const json_t *from, json_t *to);
/* The mark of the value at a path ("a.b[3].c") of the document as it is now; where nothing is,
 * that of what should hold it. NULL: the value is none of the text's, or marks is NULL. */
const struct yaml_mark *yaml_marks_find(const struct yaml_marks *marks, const json_t *document,
                                        const char *path);
