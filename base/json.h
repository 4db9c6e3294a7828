/* JSON: jansson, its one home. Strict reading, sorted or compact writing, path getters. */
#pragma once

#include <jansson.h>

#include "base/error.h"
#include "base/text.h"

/* For _cleanup_(json_decrefp): jansson's own reference drop. */
void json_decrefp_(json_t **json);
#define _cleanup_json_ __attribute__((cleanup(json_decrefp_)))

/* Reads one JSON text (RFC 8259): duplicate keys refused, depth limited by jansson (2048), at most
 * 32 MiB of text, whose values take no more than 64 MiB beside it. *ret is a new reference. `what`
 * names the text in the message, e.g. "Node". Fails with ERROR_MALFORMED: "decode Node: line 3
 * column 7: ...". */
int json_read(const char *text, size_t len, const char *what, json_t **ret, struct error *err);
/* Compact text; the caller frees. */
char *json_write(const json_t *json);
/* Indented by two, keys in insertion order, newline at the end; the caller frees. */
char *json_write_pretty(const json_t *json);

/* How winjoin's own documents begin: the first two members for json_pack("{s:s, s:s, ...". */
#define JSON_DOCUMENT(kind) "apiVersion", "winjoin.io/v1alpha1", "kind", kind

/* Follows a path ("spec.podCIDR", "taints[2].key" or "taints.2.key"; "\\." is a dot in a key, "\\["
 * and "\\]" the others). Borrowed reference, NULL when absent. */
json_t *json_at(const json_t *json, const char *path);
/* Adds a key to such a path. */
void json_path_add(struct text *path, const char *key);
/* One step along it: the value that the first name leads to, NULL too where that name is longer
 * than the room. *path becomes the rest. */
enum { JSON_KEY_MAX = 256 };
json_t *json_step(const json_t *in, const char **path, char key[JSON_KEY_MAX]);
/* The string at a path (borrowed), or NULL when absent or of another type. */
const char *json_text_at(const json_t *json, const char *path);
/* The same, `otherwise` where it would be NULL. */
const char *json_text_or(const json_t *json, const char *path, const char *otherwise);
/* The integer at a path, or fallback. */
long long json_number_at(const json_t *json, const char *path, long long fallback);
bool json_bool_at(const json_t *json, const char *path, bool fallback);

/* The object or the array at a key; an empty one is added where the key is absent. Borrowed. */
json_t *json_object_in(json_t *parent, const char *key);
json_t *json_array_in(json_t *parent, const char *key);
/* Sets the member to the text, unless that is NULL or "". */
void json_set_text(json_t *object, const char *key, const char *text);
/* Puts a value at a dotted path of object keys, and the objects on the way. Takes it over. */
void json_put(json_t *object, const char *path, json_t *value);

/* Each item of an array, or each member of an object: both names are the loop's own, as in
 * json_each(json_object_get(node, "taints"), i, taint) { ... }. What is no array, no object and
 * NULL have none. `break` and `continue` are those of one loop; inside it the array or object, an
 * expression without effects that is asked each time, stays as it is. */
#define json_each(array, i, item)                                                                  \
    for (size_t i = 0, item##_ends = 0; !item##_ends && i < json_array_size(array); i++)           \
        for (json_t * item __attribute__((unused)) = (item##_ends = 1, json_array_get(array, i));  \
             item##_ends; item##_ends = 0)
#define json_each_member(object, key, value)                                                       \
    for (const char *key = json_object_iter_key(json_object_iter((json_t *)(object))),             \
                    *value##_ends = NULL;                                                          \
         key && !value##_ends; key = json_object_iter_key(json_object_iter_next(                   \
                                   (json_t *)(object), json_object_key_to_iter(key))))             \
        for (json_t * value __attribute__((unused)) =                                              \
                 (value##_ends = key, json_object_iter_value(json_object_key_to_iter(key)));       \
             value##_ends; value##_ends = NULL)

/* The keys of an object, in the order of their bytes. */
void json_sorted_keys(const json_t *object, struct text_list *ret);
/* The list as an array of strings. New reference. */
json_t *json_texts(const struct text_list *list);
/* Is the text one of the strings of the array? What is no array has none. */
bool json_has_text(const json_t *array, const char *text);
/* The items of an array that no item of the other one equals; of objects that member alone counts,
 * unless `key` is NULL. Both are gone through once. New reference. */
json_t *json_array_without(const json_t *items, const json_t *others, const char *key);
/* Adds the strings of an array to the list; other items, and what is no array, are passed over. */
void json_read_texts(const json_t *array, struct text_list *ret);

/* ---- JSON Patch (RFC 6902), JSON Merge Patch (RFC 7386), JSON Pointer (RFC 6901). Pure ---- */

enum { JSON_PATCH_OPERATIONS_MAX = 1000, JSON_PATCH_COPIED_MAX = 100000 };

/* Applies the operations of a JSON Patch in order. *ret is a new reference, the document itself is
 * not changed; nothing is applied when one fails. As the RFC has it: array indexes are decimal
 * without leading zeros and not negative, "-" is the end of an array and only where something is
 * added, `test` of an absent value fails, `move` into the value itself fails, unknown members are
 * passed over. The whole document ("") can be replaced and tested, and, unlike there, nothing else.
 * At most JSON_PATCH_OPERATIONS_MAX operations, which copy at most JSON_PATCH_COPIED_MAX values in
 * all. ERROR_USAGE: "operation 3 (replace): path \"/a/b\": ..."; *ret_operation (or NULL) is then
 * the index of the operation that failed, or the count where no single one did. */
int json_patch_apply(const json_t *document, const json_t *patch, json_t **ret,
                     size_t *ret_operation, struct error *err);

/* The target with a merge patch applied: objects are merged, null removes, all else replaces (a
 * list without the nulls in its objects). New
 * reference; neither argument is changed. target may be NULL (absent). */
json_t *json_merge_patch(const json_t *target, const json_t *patch);

/* Adds "/" and the key with '~' and '/' escaped. */
void json_pointer_add(struct text *pointer, const char *key);

/* Equal as JSON values: numbers by value (1 is 1.0), objects in any order. */
bool json_same(const json_t *a, const json_t *b);
