/* What every object of the API has: a kind, a version, a name. */
#pragma once

#include "base/json.h"

/* Is it a DNS-1123 subdomain of at most 253 characters (apimachinery validation)? */
bool kube_name_is_valid(const char *name);
/* "namespace/name" of an object; the caller frees. */
char *kube_full_name(const json_t *object);
/* ERROR_MALFORMED when the object says that it is of another kind or version (which client-go's
 * decoder would refuse); absent, null and "" are allowed. The words of a Status come first. */
int kube_object_check(const json_t *object, const char *kind, const char *api_version,
                      struct error *err);
/* The items of a list: NULL when there are none (absent items of a list that says its kind, and
 * null, are none). ERROR_MALFORMED when this is not a list: another kind than "...List", items that
 * are no array. */
int kube_list_items(const json_t *list, json_t **ret, struct error *err);
/* The condition Ready of a Node or Pod (status.conditions); NULL: none. `object` owns it. */
const json_t *kube_ready_condition(const json_t *object);
