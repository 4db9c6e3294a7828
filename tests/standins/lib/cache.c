/* A local copy of one API collection. */
#include "tests/standins/lib/cache.h"

#include "base/memory.h"
#include "base/text.h"
#include "tests/standins/lib/cluster.h"
#include "tests/standins/lib/klog.h"
#include "tests/standins/lib/lifetime.h"

#include <windows.h>

enum { WATCH_MS = 600000 };

struct cache {
    CRITICAL_SECTION lock;
    const char *program, *kubeconfig, *path;
    json_t *objects; /* "namespace/name" -> object */
    unsigned changes;
};

static void put(json_t *objects, const json_t *object) {
    const char *space = json_text_at(object, "metadata.namespace");
    _cleanup_(freep) char *key =
        xasprintf("%s/%s", space ? space : "", json_text_at(object, "metadata.name"));

    (void)json_object_set_new(objects, key, json_deep_copy(object)); /* fails on no memory only */
}

static void drop(json_t *objects, const json_t *object) {
    const char *space = json_text_at(object, "metadata.namespace");
    _cleanup_(freep) char *key =
        xasprintf("%s/%s", space ? space : "", json_text_at(object, "metadata.name"));

    (void)json_object_del(objects, key); /* may be gone */
}

static int on_event(void *context, const char *type, const json_t *object, struct error *err) {
    struct cache *cache = context;

    (void)err;
    EnterCriticalSection(&cache->lock);
    if (text_equal(type, "LISTED")) {
        size_t i;
        json_t *item;
        json_object_clear(cache->objects);
        json_array_foreach(json_object_get(object, "items"), i, item) put(cache->objects, item);
    } else if (text_equal(type, "DELETED")) {
        drop(cache->objects, object);
    } else {
        put(cache->objects, object);
    }
    cache->changes++;
    LeaveCriticalSection(&cache->lock);
    return lifetime_over();
}

static int on_tick(void *context, unsigned waited_ms, struct error *err) {
    (void)context, (void)waited_ms, (void)err;
    return lifetime_over();
}

static void follow(void *given) {
    struct cache *cache = given;
    struct cluster cluster;

    while (!lifetime_over()) {
        struct error err = {0};
        if (cluster_open(cache->program, cache->kubeconfig, &cluster))
            return;
        struct kube_watch watch = {.path = cache->path,
                                   .timeout_ms = WATCH_MS,
                                   .on_event = on_event,
                                   .on_tick = on_tick,
                                   .context = cache};
        if (kube_watch(&cluster.client, &watch, 1, &err) && err.kind != ERROR_INTERRUPTED)
            klog('W', "watch of %s: %s", cache->path, err.message);
        cluster_close(&cluster);
        (void)lifetime_wait(1000); /* asked in the loop's head */
    }
}

struct cache *cache_start(const char *program, const char *kubeconfig, const char *path) {
    struct cache *cache = xcalloc(1, sizeof(*cache));

    InitializeCriticalSection(&cache->lock);
    cache->program = program;
    cache->kubeconfig = kubeconfig;
    cache->path = path;
    cache->objects = json_object();
    lifetime_thread(follow, cache);
    return cache;
}

unsigned cache_read(struct cache *cache, json_t **ret_items) {
    const char *key;
    json_t *item;

    EnterCriticalSection(&cache->lock);
    unsigned changes = cache->changes;
    *ret_items = changes ? json_array() : NULL;
    if (changes) {
        json_object_foreach(cache->objects, key, item)(void)
            json_array_append_new(*ret_items, json_deep_copy(item)); /* no memory only */
    }
    LeaveCriticalSection(&cache->lock);
    return changes;
}
