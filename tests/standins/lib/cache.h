/* A local copy of one API collection, kept by a watch in a thread of its own. */
#pragma once

#include "base/json.h"

struct cache;
/* Watches `path` ("/api/v1/nodes") with the kubeconfig's identity until the program ends. */
struct cache *cache_start(const char *program, const char *kubeconfig, const char *path);
/* The objects so far, as an array in no order (a new reference to a copy), and a number that grows
 * with each change; 0 and NULL until the first list came. */
unsigned cache_read(struct cache *cache, json_t **ret_items);
