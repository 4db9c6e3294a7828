/* Many texts that are found quickly: a set, or values by their keys. */
#pragma once

#include "base/text.h"

/* Keys and values lie behind each other in one block; the keys are sorted at the first question
 * after something was added. Zero-initialise; text_table_free(). */
struct text_table {
    struct text texts; /* of each entry its key, its value, a NUL behind each */
    const char **keys; /* sorted, then each key once */
    size_t count;      /* of what was added */
    size_t found;      /* of `keys`; 0 = not sorted yet */
};
/* Copies both; the first value of a key counts. */
void text_table_add(struct text_table *table, const char *key, const char *value);
/* The value of a key ("" too), owned by the table until something is added; NULL: it is not there.
 * A key that is NULL never is. */
const char *text_table_get(struct text_table *table, const char *key);
void text_table_free(struct text_table *table);
