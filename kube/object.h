/* What every object of the API has: a kind, a version, a name. */
#pragma once

#include "base/json.h"
#include "base/json_scan.h"
#include "kube/client.h"

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
/* What keeps a pod from running, from its Pod object: "ErrImagePull: <message>" or "Pending"; NULL
 * when nothing does. The caller frees. */
char *kube_pod_waiting(const json_t *pod);

/* ---- all objects of a collection, page by page ---- */

/* All objects at path ("/api/v1/nodes", with a query or without), in pages of 500 (the API's limit
 * and continue), as the server's objects: {"items": [object...], "metadata": {"resourceVersion"}?},
 * without what nobody here reads (managedFields, a Node's images). Pages that do not end (300 of
 * them, 120 s, too many bytes),
 * and objects larger than etcd stores (1.5 MiB), are ERROR_MALFORMED or ERROR_TIMED_OUT. New
 * reference. */
int kube_pages_get(struct kube_client *client, const char *path, json_t **ret, struct error *err);
/* The same page by page: the items of each that has some, as above, freed when `take` returns; -1
 * ends it with the error that `take` has set. *ret_version (or NULL) is where a watch can go on
 * from, which the caller frees; NULL: the server did not say. Where it is NULL before, the objects
 * are asked for at once, of the server's memory (resourceVersion=0, as client-go begins), and taken
 * one by one as they come, in one call of `take` each; with "" in pages, of etcd: nothing older
 * than what was known. */
typedef int kube_take_items(void *context, const json_t *items, struct error *err);
int kube_pages_each(struct kube_client *client, const char *path, kube_take_items *take,
                    void *context, char **ret_version, struct error *err);
/* The same told by places, each page freed before the next: of any size that 300 pages have. The
 * scan is of each page ("items.*" is an object). */
int kube_pages_scan(struct kube_client *client, const char *path, const struct json_scan *scan,
                    char **ret_version, struct error *err);

/* The names of all objects at path, a collection in all namespaces, as the keys of an object: by
 * one request for the server's table, which is a line an object and not the objects. Tries again as
 * kube_get_retry(). ERROR_UNSUPPORTED: there are more than `most`, so that one answer does not hold
 * them. New reference. */
int kube_names_get(struct kube_client *client, const char *path, unsigned most, unsigned timeout_ms,
                   json_t **ret, struct error *err);

/* ---- ConfigMaps: one value, or all data ---- */

/* The whole object, which must not be of another kind. Tries retryable failures again for up to
 * timeout_ms. */
int kube_configmap_get(struct kube_client *client, const char *name_space, const char *name,
                       unsigned timeout_ms, json_t **ret, struct error *err);
/* data[key] (borrowed), or NULL when absent, empty or no text. */
const char *kube_configmap_value(const json_t *configmap, const char *key);
