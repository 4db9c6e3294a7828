/* JSON Patch (RFC 6902), JSON Merge Patch (RFC 7386), JSON Pointer (RFC 6901). Pure. */
#pragma once

#include "base/json.h"

enum { JSON_PATCH_OPERATIONS_MAX = 1000, JSON_PATCH_COPIED_MAX = 100000 };

/* Applies the operations of a JSON Patch in order. *ret is a new reference, the document itself is
 * not changed; nothing is applied when one fails. As the RFC has it: array indexes are decimal
 * without leading zeros and not negative, "-" is the end of an array and only where something is
 * added, `test` of an absent value fails, `move` into the value itself fails, unknown members are
 * passed over. The whole document ("") can be replaced and tested, and, unlike there, nothing else.
 * At most JSON_PATCH_OPERATIONS_MAX operations, which copy at most JSON_PATCH_COPIED_MAX values in
 * all. ERROR_USAGE: "operation 3 (replace): path \"/a/b\": ..."; *ret_operation (or NULL) is then
 * the failing one's index, or the count when it is none of them. */
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
