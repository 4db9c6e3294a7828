/* All objects of a collection, page by page. */
#include "kube/object.h"

#include "kube/request.h"

/* As many as kubectl asks for. A Node with its 50 images has up to 30 KiB. */
enum {
    PAGE_LIMIT = 500,
    PAGE_BYTES_MAX = 24 * 1024 * 1024,
    PAGES_MAX = 300, /* 150,000 objects, the pods of the largest cluster */
    PAGES_MS = 120000,
    OBJECT_BYTES_MAX = 2 * 1024 * 1024, /* etcd takes 1.5 MiB */
    ALL_BYTES_MAX = 160 * 1024 * 1024,  /* 5000 Nodes, the most that Kubernetes supports */
    CONTINUE_MAX = 4096,
};

static void strip(json_t *items) {
    json_each(items, i, item) {
        (void)json_object_del(json_object_get(item, "metadata"), "managedFields"); /* or absent */
        (void)json_object_del(json_object_get(item, "status"), "images");
    }
}

/* Where a watch can go on from: the same on each page. */
static void keep_version(const json_t *page, json_t *list) {
    json_t *version = json_at(page, "metadata.resourceVersion");

    if (version)
        json_object_set(json_object_in(list, "metadata"), "resourceVersion", version);
}

/* One page more; *next is where the following one begins, "" at the end. */
static int add_page(struct kube_client *client, const char *path, json_t *ret, char **next,
                    struct error *err) {
    _cleanup_(freep) char *page = xasprintf("%s%climit=%d%s%s", path, strchr(path, '?') ? '&' : '?',
                                            PAGE_LIMIT, **next ? "&continue=" : "", *next);
    _cleanup_json_ json_t *list = NULL;
    json_t *items;
    const char *more;

    if (kube_get_large(client, page, PAGE_BYTES_MAX, &list, err) < 0)
        return -1;
    if (kube_list_items(list, &items, err) < 0)
        return error_prefix(err, "GET %s", path);
    if (client->answer_len > (json_array_size(items) + 1) * OBJECT_BYTES_MAX)
        return error_set(err, ERROR_MALFORMED,
                         "GET %s: %zu objects in %zu MiB, more than etcd stores", path,
                         json_array_size(items), client->answer_len >> 20);
    strip(items);
    if (items)
        (void)json_array_extend(json_object_get(ret, "items"), items); /* only memory is missing */
    keep_version(list, ret);
    more = json_text_at(list, "metadata.continue");
    if (more && strlen(more) > CONTINUE_MAX)
        return error_set(err, ERROR_MALFORMED,
                         "GET %s: its continue token has more than %d characters", path,
                         CONTINUE_MAX);
    text_set(next, kube_escape(more ? more : ""));
    return 0;
}

/* A server whose pages do not end is given up. */
static int add_pages(struct kube_client *client, const char *path, json_t *ret, struct error *err) {
    _cleanup_(freep) char *next = xstrdup("");
    uint64_t start = host_monotonic_ms(client->host);
    size_t sum = 0;

    for (unsigned page = 0; page < PAGES_MAX; page++) {
        if (add_page(client, path, ret, &next, err) < 0)
            return -1;
        if (!*next)
            return 0;
        sum += client->answer_len;
        if (sum > ALL_BYTES_MAX)
            return error_set(err, ERROR_MALFORMED, "GET %s: more than %d MiB", path,
                             ALL_BYTES_MAX / 1024 / 1024);
        if (host_monotonic_ms(client->host) - start > PAGES_MS)
            return error_set(err, ERROR_TIMED_OUT, "GET %s: not complete after %u pages in %d s",
                             path, page + 1, PAGES_MS / 1000);
    }
    return error_set(err, ERROR_MALFORMED, "GET %s: the list of pages never ends", path);
}

int kube_pages_get(struct kube_client *client, const char *path, json_t **ret, struct error *err) {
    _cleanup_json_ json_t *all = json_pack("{s:[]}", "items");

    if (add_pages(client, path, all, err) < 0)
        return -1;
    *ret = take_ptr(all);
    return 0;
}
