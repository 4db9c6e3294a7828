/* Handles the parts that all API objects have (kind, version, name), lists of objects, and
 * ConfigMaps. */
#pragma once

#include "base/json.h"
#include "base/json_scan.h"
#include "kube/client.h"

/* Is the name a DNS-1123 subdomain of at most 253 characters, as apimachinery demands? */
bool kube_name_is_valid(const char *name);
/* Returns "namespace/name" of an object. The caller frees it. */
char *kube_full_name(const json_t *object);
/* Fails with ERROR_MALFORMED when the object has another kind or version, which client-go's decoder
 * would refuse too. A kind or version that is absent, null or "" is allowed. When the object is a
 * Status, the error begins with its message. */
int kube_object_check(const json_t *object, const char *kind, const char *api_version,
                      struct error *err);
/* Sets *ret to the items of a list, which the list owns; NULL when the list has no items (null, or
 * absent in a list that has a kind). Fails with ERROR_MALFORMED when the object is not a list: its
 * kind is not "...List", or its items are not an array. */
int kube_list_items(const json_t *list, json_t **ret, struct error *err);
/* Returns the condition Ready of a Node or Pod (status.conditions), or NULL. `object` owns it. */
const json_t *kube_ready_condition(const json_t *object);
/* Returns why a Pod does not run, from its Pod object: "ErrImagePull: <message>" or "Pending". NULL
 * when it runs. The caller frees it. */
char *kube_pod_waiting(const json_t *pod);

/* ---- all objects of a collection, page by page ---- */

/* Reads all objects at a path ("/api/v1/nodes", with or without a query) in pages of 500 (the API's
 * limit and continue). The result is {"items": [object...], "metadata": {"resourceVersion"}?},
 * without fields that winjoin never reads (managedFields, a Node's images). Too many pages (300),
 * too much time (120 s) or data, and objects larger than 2 MiB fail with ERROR_MALFORMED or
 * ERROR_TIMED_OUT. New reference. */
int kube_pages_get(struct kube_client *client, const char *path, json_t **ret, struct error *err);
/* Reads all objects at a path and calls `take` with the items of each page that has some. The items
 * are freed when `take` returns. When `take` returns -1, the reading ends with the error that it
 * set. `ret_version` may be NULL. *ret_version receives the version from which a watch can
 * continue, NULL when the server did not say; the caller frees it. When *ret_version is NULL
 * before, one request asks for all objects from the server's memory (resourceVersion=0, as
 * client-go begins), and `take` gets them one by one as they arrive. When it is "" before, the
 * objects come in pages from etcd and are never older than what was known. */
typedef int kube_take_items(void *context, const json_t *items, struct error *err);
int kube_pages_each(struct kube_client *client, const char *path, kube_take_items *take,
                    void *context, char **ret_version, struct error *err);
/* Reads all objects at a path and runs the scan on each page ("items.*" is an object). Each page is
 * freed before the next, so the total size is only limited by the 300 pages. `ret_version` is as
 * for kube_pages_each(). Fails as kube_pages_get(). */
int kube_pages_scan(struct kube_client *client, const char *path, const struct json_scan *scan,
                    char **ret_version, struct error *err);

/* Reads the names of all objects at a path, a collection in all namespaces, and returns them as the
 * keys of an object. One request asks for the server's table, which has one row for each object.
 * Retries as kube_get_retry(). Fails with ERROR_UNSUPPORTED when there are more than `most`
 * objects, because one answer cannot hold them. New reference. */
int kube_names_get(struct kube_client *client, const char *path, unsigned most, unsigned timeout_ms,
                   json_t **ret, struct error *err);

/* ---- ConfigMaps ---- */

/* Reads a ConfigMap and checks its kind. Temporary failures are retried for up to timeout_ms. Fails
 * as kube_get_retry(), or with ERROR_MALFORMED for another kind. New reference. */
int kube_configmap_get(struct kube_client *client, const char *name_space, const char *name,
                       unsigned timeout_ms, json_t **ret, struct error *err);
/* Returns data[key] of a ConfigMap (borrowed); NULL when it is absent, empty or not a string. */
const char *kube_configmap_value(const json_t *configmap, const char *key);
