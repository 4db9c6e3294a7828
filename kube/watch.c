/* List and watch: one wait over drops, ends, expired versions and servers that only list. */
#include "base/log.h"
#include "kube/client.h"
#include "kube/object.h"
#include "kube/request.h"

enum {
    HTTP_UNAUTHORIZED = 401,
    STREAM_MS = 30000,       /* a dead connection is noticed after at most this and the grace */
    STREAM_LEAST_MS = 20000, /* streams that began together end apart */
    DROP_MS = 1000,          /* within which a dropped stream is taken up again */
    STREAM_GRACE_MS = 10000, /* how much later than asked for a server may end a stream */
    LINE_MAX = HTTP_BODY_MAX,
    VERSION_MAX = 256, /* it goes into a URL */
    WORDS_MAX = 64 * 1024,
    POLL_MS = 2000,
    TICK_MS = 1000,
    LIVELY_MS = 1000,    /* a stream that lived shorter and brought nothing is a failure */
    STRANGER_MS = 30000, /* how long a server may refuse whom it let in before */
};

/* One wait. */
struct wait {
    struct kube_client *client;
    const struct kube_watch *watch;
    uint64_t start, last_tick;
    uint64_t heard;    /* when the server answered last */
    char *version;     /* resourceVersion to go on from; NULL = list again */
    bool only_list;    /* watch is not granted */
    bool let_in;       /* the server has taken us once */
    uint64_t refused;  /* since when it takes us no more; 0 = it does */
    unsigned failures; /* in a row */
    int outcome;       /* what a callback said: 1 or -1; 0 = go on */
    struct error last; /* last passing failure */
    struct error *err;
    struct text line; /* the piece of a line that came so far */
    bool words;       /* of this stream: it is no stream of events */
    struct error odd; /* why */
    size_t events;    /* of this stream */
};

static unsigned waited(const struct wait *w) {
    return (unsigned)(host_monotonic_ms(w->client->host) - w->start);
}

static unsigned left(const struct wait *w) {
    unsigned now = waited(w);

    return now < w->watch->timeout_ms ? w->watch->timeout_ms - now : 0;
}

static void tell(struct wait *w, const char *type, const json_t *object) {
    if (w->watch->name && !text_equal(type, "LISTED") &&
        !text_equal(json_text_at(object, "metadata.name"), w->watch->name))
        return; /* a server that knows no field selectors */
    if (w->outcome == 0)
        w->outcome = w->watch->on_event(w->watch->context, type, object, w->err);
}

static void tick(struct wait *w) {
    uint64_t now = host_monotonic_ms(w->client->host);

    if (w->outcome || now - w->last_tick < TICK_MS)
        return;
    w->last_tick = now;
    if (host_interrupted(w->client->host))
        w->outcome = error_set(w->err, ERROR_INTERRUPTED, "wait: interrupted");
    else if (w->watch->on_tick)
        w->outcome = w->watch->on_tick(w->watch->context, waited(w), w->err);
}

/* Waits in slices so that ticks go on. */
static void pause_for(struct wait *w, unsigned ms) {
    uint64_t end = host_monotonic_ms(w->client->host) + (ms < left(w) ? ms : left(w));

    while (w->outcome == 0) {
        uint64_t now = host_monotonic_ms(w->client->host);
        unsigned slice = end > now ? (unsigned)(end - now) : 0;

        if (!slice)
            return;
        if (host_sleep(w->client->host, slice < TICK_MS ? slice : TICK_MS, w->err) < 0)
            w->outcome = -1;
        tick(w);
    }
}

static void keep_version(struct wait *w, const char *version) {
    if (!version || text_equal(version, w->version) || strlen(version) > VERSION_MAX)
        return;
    text_set(&w->version, xstrdup(version));
}

static void keep_version_of(struct wait *w, const json_t *object) {
    keep_version(w, json_text_at(object, "metadata.resourceVersion"));
}

/* ---- list ---- */

static char *make_path(const struct wait *w, const char *more) {
    struct text path = {0};
    const char *mark = strchr(w->watch->path, '?') ? "&" : "?";
    _cleanup_(freep) char *name = NULL;

    text_add(&path, w->watch->path);
    if (w->watch->name) {
        name = kube_escape(w->watch->name);
        text_addf(&path, "%sfieldSelector=metadata.name%%3D%s", mark, name);
        mark = "&";
    }
    if (more)
        text_addf(&path, "%s%s", mark, more);
    return text_take(&path);
}

static int list(struct wait *w, struct error *err) {
    _cleanup_(freep) char *path = make_path(w, NULL);
    _cleanup_json_ json_t *all = NULL;
    json_t *items;

    if ((w->watch->name ? kube_get : kube_pages_get)(w->client, path, &all, err) < 0)
        return -1;
    if (kube_list_items(all, &items, err) < 0)
        return error_prefix(err, "GET %s", w->watch->path);
    json_each(items, i, item)
        tell(w, "ADDED", item);
    tell(w, "LISTED", all);
    keep_version_of(w, all);
    return 0;
}

/* ---- watch ---- */

static void handle_event(struct wait *w, const json_t *event, const char *type) {
    const json_t *object = json_object_get(event, "object");

    w->events++;
    if (text_equal(type, "ERROR")) {
        /* 410: the version is too old; a new list helps against anything else, too */
        log_message(LOG_RETRY, "watch %s: %s", w->watch->path,
                    json_text_or(object, "message", "error"));
        free(w->version);
        w->version = NULL;
        return;
    }
    keep_version_of(w, object);
    if (!text_equal(type, "BOOKMARK"))
        tell(w, type, object);
}

/* Whole lines leave the builder. From the first one that is not an event, all stays for the error
 * message, and is not read again and again in search of one. */
static void handle_line(struct wait *w) {
    _cleanup_json_ json_t *event = NULL;
    const char *type = NULL;

    if (w->words || !w->line.len)
        return;
    if (json_read(text_str(&w->line), w->line.len, "event", &event, &w->odd) == 0 &&
        !(type = json_text_at(event, "type")))
        (void)error_set(&w->odd, ERROR_MALFORMED, "decode event: it has no type");
    w->words = !type;
    if (!type)
        return;
    handle_event(w, event, type);
    text_clear(&w->line);
}

static int on_data(void *context, const char *data, size_t len) {
    struct wait *w = context;

    while (len && w->outcome == 0 && w->version) {
        const char *newline = memchr(data, '\n', len);
        size_t n = newline ? (size_t)(newline - data) : len;

        text_add_bytes(&w->line, data, n);
        if (w->line.overflow)
            return 1;
        if (newline)
            handle_line(w);
        n += newline != NULL;
        data += n;
        len -= n;
    }
    tick(w);
    return w->outcome != 0 || !w->version || left(w) == 0 || (w->words && w->line.len > WORDS_MAX);
}

/* The end of a stream: what it means. */
static int judge(struct wait *w, const struct http_response *response, uint64_t began,
                 struct error *err) {
    if (w->outcome || !w->version)
        return 0;
    if (w->line.overflow)
        return error_set(err, ERROR_MALFORMED, "watch %s: an event is longer than %d bytes",
                         w->watch->path, LINE_MAX);
    if (response->status == 410) {
        free(w->version);
        w->version = NULL;
        return 0;
    }
    if (response->status < 200 || response->status > 299)
        return kube_status_error("WATCH", w->watch->path, response->status, text_str(&w->line),
                                 w->line.len, err);
    if (w->words)
        return error_set(err, ERROR_NETWORK, "watch %s: %s: %.120s", w->watch->path, w->odd.message,
                         text_str(&w->line));
    if (w->events == 0 && host_monotonic_ms(w->client->host) - began < LIVELY_MS)
        return error_set(err, ERROR_NETWORK, "watch %s: the stream ended immediately",
                         w->watch->path);
    return 0;
}

static int stream(struct wait *w, struct error *err) {
    unsigned longest = host_spread_ms(w->client->host, STREAM_LEAST_MS, STREAM_MS);
    unsigned ms = left(w) < longest ? left(w) : longest;
    _cleanup_(freep) char *version = kube_escape(w->version);
    _cleanup_(freep) char *query =
        xasprintf("watch=true&allowWatchBookmarks=true&resourceVersion=%s&timeoutSeconds=%u",
                  version, ms / 1000 + 1);
    _cleanup_(freep) char *path = make_path(w, query);
    struct kube_call call = {.method = "GET",
                             .path = path,
                             .timeout_ms = ms + STREAM_GRACE_MS,
                             .on_data = on_data,
                             .on_data_context = w};
    _cleanup_(http_response_free) struct http_response response = {0};
    uint64_t began = host_monotonic_ms(w->client->host);

    w->events = 0;
    w->words = false;
    text_clear(&w->line);
    if (kube_perform(w->client, &call, &response, err) < 0) {
        if (!w->events)
            return -1;
        pause_for(w, host_spread_ms(w->client->host, 0, DROP_MS)); /* all watchers saw it drop */
        return 0;
    }
    return judge(w, &response, began, err);
}

/* ---- the loop ---- */

/* One stream; a short one is followed by a pause, whatever it brought: a server that calls each
 * version too old would else be asked without end. */
static int stream_calmly(struct wait *w, struct error *err) {
    uint64_t began = host_monotonic_ms(w->client->host);
    int result = stream(w, err);

    if (result == 0 && w->outcome == 0 && host_monotonic_ms(w->client->host) - began < LIVELY_MS)
        pause_for(w, host_spread_ms(w->client->host, LIVELY_MS, 2 * LIVELY_MS));
    return result;
}

static int step(struct wait *w, struct error *err) {
    if (!w->version || w->only_list) {
        if (list(w, err) < 0)
            return -1;
        if (w->only_list || !w->version)
            pause_for(w, host_spread_ms(w->client->host, POLL_MS / 2, POLL_MS + POLL_MS / 2));
        return 0;
    }
    return stream_calmly(w, err);
}

/* A server that has just started answers before it has read its tokens and roles. */
static bool may_pass(struct wait *w, const struct error *why) {
    uint64_t now = host_monotonic_ms(w->client->host) + 1; /* never 0 */

    if (why->kind != ERROR_DENIED || !w->let_in)
        return error_is_retryable(why);
    if (!w->refused)
        w->refused = now;
    return now - w->refused < STRANGER_MS;
}

static bool is_silent(const struct wait *w) {
    return w->watch->silent_ms &&
           host_monotonic_ms(w->client->host) - w->heard >= w->watch->silent_ms;
}

/* After a failed step: 0 to go on, -1 when it is final. */
static int after_failure(struct wait *w, struct error *why) {
    if (why->kind == ERROR_DENIED && why->os != HTTP_UNAUTHORIZED && w->version && !w->only_list) {
        log_message(LOG_RETRY, "%s; polling every %d ms instead", why->message, POLL_MS);
        w->only_list = true;
        return 0;
    }
    if (!may_pass(w, why) || is_silent(w))
        return -1;
    w->last = *why;
    log_message(LOG_RETRY, "%s; trying again", why->message);
    pause_for(w, kube_pause_ms(w->client->host, w->failures, -1));
    w->failures++;
    return 0;
}

static int late(struct wait *w, struct error *err) {
    if (w->last.kind == ERROR_NONE)
        return error_set(err, ERROR_TIMED_OUT, "waited %u s", w->watch->timeout_ms / 1000);
    return error_set(err, ERROR_TIMED_OUT, "waited %u s; last failure: %s",
                     w->watch->timeout_ms / 1000, w->last.message);
}

int kube_watch(struct kube_client *client, const struct kube_watch *watch, struct error *err) {
    struct error own = {0};
    struct wait w = {.client = client,
                     .watch = watch,
                     .start = host_monotonic_ms(client->host),
                     .err = err ? err : &own,
                     .line = {.cap = LINE_MAX}};
    int result = 0;

    w.last_tick = w.heard = w.start;
    if (watch->version && *watch->version)
        keep_version(&w, watch->version);
    while (w.outcome == 0 && result == 0) {
        struct error why = {0};

        if (left(&w) == 0) {
            result = late(&w, w.err);
        } else if (step(&w, &why) == 0) {
            w.failures = 0;
            w.heard = host_monotonic_ms(client->host);
            w.let_in = true;
            w.refused = 0;
        } else if (w.outcome == 0 && after_failure(&w, &why) < 0) {
            *w.err = why;
            result = -1;
        }
    }
    free(w.version);
    text_free(&w.line);
    return w.outcome ? (w.outcome > 0 ? 0 : -1) : result;
}
