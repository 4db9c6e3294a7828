/* Reads all objects of a collection, page by page or as a stream. */
#include "kube/object.h"

#include "kube/request.h"

/* Limits of the reading. PAGE_LIMIT is the page size of kubectl. A Node with its 50 images has up
 * to 30 KiB. */
enum {
    PAGE_LIMIT = 500,
    PAGE_BYTES_MAX = 24 * 1024 * 1024,
    PAGES_MAX = 300, /* Enough for 150,000 objects, the Pods of the largest cluster. */
    PAGES_MS = 120000,
    OBJECT_BYTES_MAX = 2 * 1024 * 1024, /* etcd stores objects of at most 1.5 MiB. */
    /* Enough for 5000 Nodes, the most that Kubernetes supports. */
    ALL_BYTES_MAX = 160 * 1024 * 1024,
    CONTINUE_MAX = 4096,
};

/* A page without its objects. */
struct page {
    char *more; /* Token for the next page; NULL or "" when this is the last page. */
    /* Version from which a watch can continue, the same on each page; NULL when unknown. */
    char *version;
    size_t objects;
    bool is_list; /* The page is a list, or has no kind. */
};

static void page_free(struct page *page) {
    free_all(page->more, page->version);
}

static void page_found(void *context, const struct json_found *found) {
    enum { OBJECT, MORE, VERSION, KIND };
    struct page *page = context;

    if (found->what == OBJECT)
        page->objects += found->kind == SCAN_BEGINS;
    else if (found->what == KIND)
        page->is_list = found->len >= 4 && memcmp(found->text + found->len - 4, "List", 4) == 0;
    else
        text_set(found->what == MORE ? &page->more : &page->version, json_found_text(found));
}

static int read_page(const char *text, size_t len, struct page *ret, struct error *err) {
    static const struct json_place places[] = {
        {"items.*", 0}, {"metadata.continue", 1}, {"metadata.resourceVersion", 2}, {"kind", 3}};
    const struct json_scan scan = {.name = "the answer",
                                   .prefix = "",
                                   .places = places,
                                   .count = ARRAY_SIZE(places),
                                   .found = page_found,
                                   .context = ret};
    _cleanup_json_ json_t *other = NULL;
    json_t *items;

    ret->is_list = true;
    if (json_scan(text, len, &scan, err) < 0)
        return -1;
    if (ret->more && strlen(ret->more) > CONTINUE_MAX)
        return error_set(err, ERROR_MALFORMED, "its continue token has more than %d characters",
                         CONTINUE_MAX);
    if (len > (ret->objects + 1) * OBJECT_BYTES_MAX)
        return error_set(err, ERROR_MALFORMED, "%zu objects in %zu MiB, more than etcd stores",
                         ret->objects, len >> 20);
    if (ret->objects && ret->is_list)
        return 0;
    return json_read(text, len, "the answer", &other, err) < 0
               ? -1
               : kube_list_items(other, &items, err);
}

/* A function that processes each page. */
typedef int take_page(void *context, const char *text, size_t len, struct error *err);

/* ---- one answer, processed object by object as it arrives ---- */

struct coming {
    take_page *take;
    void *context;
    /* `item` is the current object so far. `rest` is the list without its objects. */
    struct text item, rest;
    unsigned depth;
    bool in_text, is_escaped, in_items;
    size_t objects, bytes;
    struct error why;
};

static int broken(struct coming *c) {
    return error_set(&c->why, ERROR_MALFORMED, "decode the answer: byte %zu is not JSON", c->bytes);
}

/* Does the text end with "items": [ ? */
static bool is_items(const struct text *rest) {
    static const char key[] = "\"items\"";
    size_t len = rest->len - 1;
    bool colon = false;

    for (; len; len--) {
        char last = rest->data[len - 1];

        if (!strchr(" \t\r\n", last) && (colon || last != ':'))
            break;
        colon |= last == ':';
    }
    return colon && len >= strlen(key) &&
           memcmp(rest->data + len - strlen(key), key, strlen(key)) == 0;
}

/* Handles a bracket or brace, which may end an object or the list of items. */
static int take_nesting(struct coming *c, char byte) {
    static const char blanks[] = " \t\r\n";
    bool opens = byte == '{' || byte == '[';
    _cleanup_(freep) char *list = NULL;
    const char *item;

    if (!opens && !c->depth)
        return broken(c);
    c->depth = opens ? c->depth + 1 : c->depth - 1;
    if (opens && c->depth == 2)
        c->in_items = byte == '[' && is_items(&c->rest);
    if (opens || !c->in_items || c->depth > 2)
        return 0;
    if (c->depth < 2) {
        /* The list of items ended. The text since the last object is not an object. */
        text_add(&c->rest, text_str(&c->item));
        text_clear(&c->item);
        c->in_items = false;
        return 0;
    }

    /* The text of an object begins with the comma before it. */
    item = c->item.data + strspn(c->item.data, blanks);
    if (c->objects++ && *item++ != ',')
        return broken(c);
    list = xasprintf("{\"items\":[%s]}", item);
    text_clear(&c->item);
    return c->take(c->context, list, strlen(list), &c->why);
}

static int on_list(void *context, const char *data, size_t len) {
    struct coming *c = context;
    size_t kept = 0;

    for (size_t i = 0; i < len; i++) {
        bool nests = !c->in_text && data[i] && strchr("{}[]", data[i]);
        bool escapes = c->in_text && !c->is_escaped && data[i] == '\\';

        if (data[i] == '"' && !c->is_escaped)
            c->in_text = !c->in_text;
        c->is_escaped = escapes;
        if (!nests && i + 1 < len)
            continue;
        text_add_bytes(c->in_items ? &c->item : &c->rest, data + kept, i + 1 - kept);
        c->bytes += i + 1 - kept;
        kept = i + 1;
        if (nests && take_nesting(c, data[i]) < 0)
            return 1;
    }
    if ((c->item.overflow || c->rest.overflow) && !c->why.kind)
        (void)error_set(&c->why, ERROR_MALFORMED, "an object has more than %d MiB",
                        OBJECT_BYTES_MAX >> 20);
    if (c->bytes > ALL_BYTES_MAX && !c->why.kind)
        (void)error_set(&c->why, ERROR_MALFORMED, "more than %d MiB", ALL_BYTES_MAX >> 20);
    return c->why.kind;
}

/* Reads all objects in one answer from the server's memory, as client-go does. */
static int stream_list(struct kube_client *client, const char *path, take_page *take, void *context,
                       char **ret_version, struct error *err) {
    _cleanup_(freep) char *url =
        xasprintf("%s%cresourceVersion=0", path, strchr(path, '?') ? '&' : '?');
    struct coming c = {.take = take,
                       .context = context,
                       .item = {.cap = OBJECT_BYTES_MAX},
                       .rest = {.cap = OBJECT_BYTES_MAX}};
    const struct kube_call call = {.method = "GET",
                                   .path = url,
                                   .timeout_ms = PAGES_MS,
                                   .gzip = true,
                                   .on_data = on_list,
                                   .on_data_context = &c};
    _cleanup_(http_response_free) struct http_response response = {0};
    _cleanup_json_ json_t *list = NULL;
    json_t *items;
    const char *version;
    int result = kube_perform(client, &call, &response, err);

    if (result == 0 && (response.status < 200 || response.status > 299)) {
        result = kube_status_error("GET", url, response.status, text_str(&c.rest), c.rest.len, err);
    } else if (result == 0) {
        /* Reads the list without its objects, which has the version for a watch. */
        if (!c.why.kind &&
            json_read(text_str(&c.rest), c.rest.len, "the answer", &list, &c.why) == 0 &&
            kube_list_items(list, &items, &c.why) == 0 &&
            (json_array_size(items) || *json_text_or(list, "metadata.continue", "")))
            (void)error_set(&c.why, ERROR_MALFORMED, "decode the answer: it is not a whole list");
        version = json_text_at(list, "metadata.resourceVersion");
        if (c.why.kind)
            result = (error_pass(err, &c.why), error_prefix(err, "GET %s", path));
        else if (version)
            text_set(ret_version, xstrdup(version));
    }
    text_free(&c.item);
    text_free(&c.rest);
    return result;
}

/* Reads the pages. It gives up when there are too many or they take too long. `all` is the limit of
 * bytes for all pages together; 0 means no limit. */
static int add_pages(struct kube_client *client, const char *path, size_t all, take_page *take,
                     void *context, char **ret_version, struct error *err) {
    _cleanup_(freep) char *next = xstrdup(""); /* Token for the next page; "" at the end. */
    uint64_t start = host_monotonic_ms(client->host);
    size_t sum = 0;

    for (unsigned count = 1; count <= PAGES_MAX; count++) {
        _cleanup_(freep) char *url =
            xasprintf("%s%climit=%d%s%s", path, strchr(path, '?') ? '&' : '?', PAGE_LIMIT,
                      *next ? "&continue=" : "", next);
        _cleanup_(freep) char *text = NULL;
        _cleanup_(page_free) struct page page = {0};
        const struct kube_call call = {
            .method = "GET", .path = url, .max_body = PAGE_BYTES_MAX, .ret_text = &text};

        if (kube_call_retry(client, &call, client->patience_ms, NULL, err) < 0)
            return -1;
        if (read_page(text, client->answer_len, &page, err) < 0 ||
            take(context, text, client->answer_len, err) < 0)
            return error_prefix(err, "GET %s", path);
        if (ret_version && page.version)
            text_set(ret_version, take_ptr(page.version));
        text_set(&next, kube_escape(page.more ? page.more : ""));
        if (!*next)
            return 0;
        sum += client->answer_len;
        if (all && sum > all)
            return error_set(err, ERROR_MALFORMED, "GET %s: more than %zu MiB", path,
                             all / 1024 / 1024);
        if (host_monotonic_ms(client->host) - start > PAGES_MS)
            return error_set(err, ERROR_TIMED_OUT, "GET %s: not complete after %u pages in %d s",
                             path, count, PAGES_MS / 1000);
    }
    return error_set(err, ERROR_MALFORMED, "GET %s: the list of pages never ends", path);
}

static int read_list(struct kube_client *client, const char *path, take_page *take, void *context,
                     char **ret_version, struct error *err) {
    return ret_version && !*ret_version
               ? stream_list(client, path, take, context, ret_version, err)
               : add_pages(client, path, 0, take, context, ret_version, err);
}

struct walk {
    kube_take_items *take;
    void *context;
    json_t *items; /* The items of the current page. */
    struct error why;
};

/* Reads one object at a time and drops members that winjoin never reads, which are most of a page
 * of Nodes. */
static void item_found(void *context, const struct json_found *found) {
    struct walk *walk = context;
    json_t *item = NULL;

    if (found->kind != SCAN_ENDS || walk->why.kind ||
        json_read(found->whole, found->whole_len, "the answer", &item, &walk->why) < 0)
        return;
    /* A failed deletion only means that the member is absent. */
    (void)json_object_del(json_object_get(item, "metadata"), "managedFields");
    (void)json_object_del(json_object_get(item, "status"), "images");
    json_array_append_new(walk->items, item);
}

static int take_tree(void *context, const char *text, size_t len, struct error *err) {
    static const struct json_place item = {"items.*", 0};
    struct walk *walk = context;
    const struct json_scan scan = {.name = "the answer",
                                   .prefix = "",
                                   .places = &item,
                                   .count = 1,
                                   .found = item_found,
                                   .context = walk};
    _cleanup_json_ json_t *items = walk->items = json_array();

    if (json_scan(text, len, &scan, err) < 0)
        return -1;
    if (walk->why.kind)
        return error_pass(err, &walk->why);
    return json_array_size(items) ? walk->take(walk->context, items, err) : 0;
}

int kube_pages_each(struct kube_client *client, const char *path, kube_take_items *take,
                    void *context, char **ret_version, struct error *err) {
    struct walk walk = {.take = take, .context = context};

    return read_list(client, path, take_tree, &walk, ret_version, err);
}

static int keep_items(void *context, const json_t *items, struct error *) {
    /* Adding to the array fails only when memory is exhausted. */
    return json_array_extend(context, (json_t *)items);
}

int kube_pages_get(struct kube_client *client, const char *path, json_t **ret, struct error *err) {
    _cleanup_json_ json_t *items = json_array();
    _cleanup_(freep) char *version = NULL;

    if (add_pages(client, path, ALL_BYTES_MAX, take_tree,
                  &(struct walk){.take = keep_items, .context = items}, &version, err) < 0)
        return -1;
    *ret = json_pack("{s:O}", "items", items);
    if (version)
        json_put(*ret, "metadata.resourceVersion", json_string(version));
    return 0;
}

static int take_scan(void *context, const char *text, size_t len, struct error *err) {
    return json_scan(text, len, context, err);
}

int kube_pages_scan(struct kube_client *client, const char *path, const struct json_scan *scan,
                    char **ret_version, struct error *err) {
    return read_list(client, path, take_scan, (void *)scan, ret_version, err);
}

/* ---- reading only the names of objects ---- */

int kube_names_get(struct kube_client *client, const char *path, unsigned most, unsigned timeout_ms,
                   json_t **ret, struct error *err) {
    _cleanup_(freep) char *query = xasprintf("%s?includeObject=None&limit=%u", path, most);
    const struct kube_call call = {
        .method = "GET",
        .path = query,
        .accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"};
    _cleanup_json_ json_t *answer = NULL, *names = json_object();
    const char *kind;

    if (kube_call_retry(client, &call, timeout_ms, &answer, err) < 0)
        return -1;
    kind = json_text_or(answer, "kind", "");
    if (!text_equal(kind, "Table") && !text_ends_with(kind, "List"))
        return error_set(err, ERROR_MALFORMED, "GET %s: the answer is neither a table nor a list",
                         query);
    if (*json_text_or(answer, "metadata.continue", ""))
        return error_set(err, ERROR_UNSUPPORTED, "GET %s: there are more than %u", query, most);
    json_each(json_object_get(answer, text_equal(kind, "Table") ? "rows" : "items"), i, item) {
        const char *name = json_string_value(json_array_get(json_object_get(item, "cells"), 0));

        if (!name) /* A server without support for tables returns the objects themselves. */
            name = json_text_at(item, "metadata.name");
        if (name)
            json_object_set_new(names, name, json_true());
    }
    *ret = take_ptr(names);
    return 0;
}
