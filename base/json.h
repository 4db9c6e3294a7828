/* Reads and writes JSON with the library jansson and finds values by path. Other files use jansson
 * through these functions. Reading is strict. */
#pragma once

#include <jansson.h>

#include "base/error.h"
#include "base/text.h"

/* Drops a reference when a local variable marked _cleanup_json_ goes out of scope. */
void json_decrefp_(json_t **json);
#define _cleanup_json_ __attribute__((cleanup(json_decrefp_)))

/* Reads one JSON text (RFC 8259). Duplicate keys are refused, and so are more than 2048 levels
 * (jansson's limit), more than 32 MiB of text, and more than 64 MiB of memory for the values
 * without their strings. *ret is a new reference. `what` names the text in the message, e.g.
 * "Node". Fails with ERROR_MALFORMED: "decode Node: line 3 column 7: ...". */
int json_read(const char *text, size_t len, const char *what, json_t **ret, struct error *err);
/* Writes JSON without blanks. The caller frees the text. */
char *json_write(const json_t *json);
/* Writes JSON indented by two, keys in insertion order, with a newline at the end. free() the
 * text. */
char *json_write_pretty(const json_t *json);

/* Gives json_pack("{s:s, s:s, ...") the first two members of each document that winjoin writes. */
#define JSON_DOCUMENT(kind) "apiVersion", "winjoin.io/v1alpha1", "kind", kind

/* Returns the value at a path such as "spec.podCIDR", "taints[2].key" or "taints.2.key". In a key,
 * "\\.", "\\[" and "\\]" mean a dot and brackets. The reference is borrowed; NULL when there
 * is no such value. */
json_t *json_at(const json_t *json, const char *path);
/* Appends a key to a path for json_at() and escapes its dots and brackets. */
void json_path_add(struct text *path, const char *key);
/* Takes the first name from *path, which then points to the rest, and returns the value of that
 * name in `in`. NULL when the value is absent or the name is longer than JSON_KEY_MAX - 1 bytes.
 * `key` receives the name. */
enum { JSON_KEY_MAX = 256 };
json_t *json_step(const json_t *in, const char **path, char key[JSON_KEY_MAX]);
/* Returns the string at a path (borrowed), or NULL when it is absent or not a string. */
const char *json_text_at(const json_t *json, const char *path);
/* Returns the string at a path (borrowed), or `otherwise` when it is absent or not a string. */
const char *json_text_or(const json_t *json, const char *path, const char *otherwise);
/* Returns the integer or boolean at a path, or `fallback` when it is absent or of another type. */
long long json_number_at(const json_t *json, const char *path, long long fallback);
bool json_bool_at(const json_t *json, const char *path, bool fallback);

/* Returns the object or array at a key (borrowed). Another value there is replaced by a new empty
 * one. */
json_t *json_object_in(json_t *parent, const char *key);
json_t *json_array_in(json_t *parent, const char *key);
/* Sets the member to the text. Does nothing when the text is NULL or "". */
void json_set_text(json_t *object, const char *key, const char *text);
/* Puts a value at a dotted path of object keys and creates the missing objects on that path. Takes
 * ownership of the value. */
void json_put(json_t *object, const char *path, json_t *value);

/* Loops over each item of an array, or each member of an object. The macros declare the named
 * variables, as in json_each(json_object_get(node, "taints"), i, taint) { ... }. A value of another
 * type and NULL give no rounds. `break` and `continue` work as in a single loop. The array or
 * object is evaluated in every round, so the expression must have no side effects, and the loop
 * body must not change the array or object. */
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

/* Adds the keys of an object to the list and sorts the list by bytes. */
void json_sorted_keys(const json_t *object, struct text_list *ret);
/* Returns the list as an array of strings. New reference. */
json_t *json_texts(const struct text_list *list);
/* Is the text one of the strings of the array? False when `array` is not an array. */
bool json_has_text(const json_t *array, const char *text);
/* Returns the items of `items` that equal no item of `others`. When `key` is not NULL, only that
 * member of each object is compared. The function reads each array once. New reference. */
json_t *json_array_without(const json_t *items, const json_t *others, const char *key);
/* Adds the strings of an array to the list. Items of other types are ignored; a value that is not
 * an array adds nothing. */
void json_read_texts(const json_t *array, struct text_list *ret);

/* ---- JSON Patch (RFC 6902), JSON Merge Patch (RFC 7386), JSON Pointer (RFC 6901) ---- */

enum { JSON_PATCH_OPERATIONS_MAX = 1000, JSON_PATCH_COPIED_MAX = 100000 };

/* Applies the operations of a JSON Patch in order. *ret is a new reference; the document itself
 * does not change, and a failed patch has no result. Follows RFC 6902: array indexes are decimal
 * without sign and leading zeros, "-" means the end of an array and is allowed only for adding,
 * `test` of an absent value fails, `move` of a value into itself fails, and unknown members are
 * ignored. Unlike in the RFC, the whole document ("") can only be replaced and tested. A patch may
 * have JSON_PATCH_OPERATIONS_MAX operations and copy JSON_PATCH_COPIED_MAX values. Fails with
 * ERROR_USAGE: "operation 3 (replace): path \"/a/b\": ...". On failure *ret_operation (may be NULL)
 * is the index of the failed operation, or the number of operations when the patch as a whole is
 * refused. */
int json_patch_apply(const json_t *document, const json_t *patch, json_t **ret,
                     size_t *ret_operation, struct error *err);

/* Returns the target with a merge patch applied, as a new reference. Objects are merged, null
 * removes a member, and any other value replaces the old one; nulls inside objects of a list are
 * dropped. Neither argument is changed. `target` may be NULL when it does not exist. */
json_t *json_merge_patch(const json_t *target, const json_t *patch);

/* Appends "/" and the key to a JSON Pointer and escapes '~' and '/' in the key. */
void json_pointer_add(struct text *pointer, const char *key);

/* Are two JSON values equal? Numbers compare by value (1 equals 1.0); the order of object members
 * does not matter. */
bool json_same(const json_t *a, const json_t *b);
