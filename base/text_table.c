/* Implements a table with fast lookup by string key. It is a sorted list, not a hash table, because
 * an attacker could choose keys that make a hash table slow. */
#include "base/text.h"

#include <stdint.h>

void text_table_add(struct text_table *table, const char *key, const char *value) {
    table->texts.cap = SIZE_MAX;
    text_add_bytes(&table->texts, key, strlen(key) + 1);
    text_add_bytes(&table->texts, value, strlen(value) + 1);
    table->count++;
    table->found = 0;
}

/* Compares two keys. Equal keys keep the order in which they were added. */
static int compare_keys(const void *a, const void *b) {
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    int order = strcmp(x, y);

    return order ? order : (x > y) - (x < y);
}

static int compare_key(const void *key, const void *item) {
    return strcmp(key, *(const char *const *)item);
}

const char *text_table_get(struct text_table *table, const char *key) {
    const char *const *item;

    if (!key || !table->count)
        return NULL;
    if (!table->found) {
        const char *at = text_str(&table->texts);
        size_t kept = 0;

        table->keys = xrealloc(table->keys, table->count * sizeof *table->keys);
        for (size_t i = 0; i < table->count; i++) {
            table->keys[i] = at;
            at += strlen(at) + 1;
            at += strlen(at) + 1;
        }
        qsort(table->keys, table->count, sizeof *table->keys, compare_keys);
        for (size_t i = 0; i < table->count; i++)
            if (!i || strcmp(table->keys[i], table->keys[kept - 1]) != 0)
                table->keys[kept++] = table->keys[i];
        table->found = kept;
    }
    item = bsearch(key, table->keys, table->found, sizeof *table->keys, compare_key);
    return item ? *item + strlen(*item) + 1 : NULL;
}

void text_table_free(struct text_table *table) {
    text_free(&table->texts);
    free(table->keys);
    *table = (struct text_table){0};
}
