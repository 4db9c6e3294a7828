/* All objects of a collection, page by page. */
#pragma once

#include "kube/client.h"

/* All objects at path ("/api/v1/nodes", with a query or without), in pages of 500 (the API's limit
 * and continue), as the server's objects: {"items": [object...], "metadata": {"resourceVersion"}?},
 * without what nobody here reads (managedFields, a Node's images). Pages that do not end (300 of
 * them, 120 s, too many bytes),
 * and objects larger than etcd stores (1.5 MiB), are ERROR_MALFORMED or ERROR_TIMED_OUT. New
 * reference. */
int kube_pages_get(struct kube_client *client, const char *path, json_t **ret, struct error *err);
