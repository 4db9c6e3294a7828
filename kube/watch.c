/* Implements list and watch: one wait that survives broken and ended streams, expired versions, and
 * servers that permit only list. */
#include "base/log.h"
#include "kube/client.h"
#include "kube/event_stream.h"
#include "kube/object.h"
#include "kube/request.h"

enum {
    HTTP_UNAUTHORIZED = 401,
    /* Longest time of a stream. The actual time is random between half of it and all, as in
       client-go, so that clients that started together do not reconnect together. */
    STREAM_MS = 600000,
    STREAM_SILENT_MS = 75000, /* A stream without data for this long is broken, because servers send
                                 a bookmark once a minute. */
    TURN_MS = 20000, /* Streams run at least this long before another watch that wants to restart
                        its stream ends them. */
    DROP_MS = 1000,  /* A broken stream is restarted within this time. */
    STREAM_GRACE_MS = 10000, /* A server may end a stream this much later than requested. */
    VERSION_MAX = 256,       /* Longest accepted version; it becomes part of a URL. */
    WORDS_MAX = 64 * 1024,
    POLL_MS = 2000,
    TICK_MS = 1000,
    LIVELY_MS = 1000,    /* A stream that ended sooner and brought no event counts as a failure. */
    STRANGER_MS = 30000, /* How long a server may refuse a client that it accepted before. */
};

/* Several watches that run in one wait. */
struct watching {
    struct kube_client *client;
    struct wait *waits;
    size_t count;
    uint64_t start, last_tick;
    uint64_t began; /* When the current streams started. */
    bool ticks;     /* A callback is running. */
    bool cut;       /* The streams were ended early because another watch needs its turn. */
    int outcome;    /* Result of a callback: 1 or -1 ends the wait, 0 continues it. */
    struct error *err;
};
struct wait {
    struct watching *all;
    const struct kube_watch *watch;
    unsigned poll_ms;  /* Pause between two lists when watch is not permitted. */
    uint64_t heard;    /* When the server last answered. */
    uint64_t due;      /* End of the current pause; UINT64_MAX while its stream runs. */
    char *version;     /* resourceVersion to continue from; NULL means that it must list again. */
    bool only_list;    /* The server does not permit watch. */
    bool expired;      /* The last version was too old, so the next list must be fresh. */
    bool let_in;       /* The server has accepted the client before. */
    bool known;        /* The watch started with a version that the server had given earlier. */
    uint64_t refused;  /* Since when the server refuses the client; 0 when it does not. */
    unsigned failures; /* Number of failures in a row. */
    struct error last; /* The last failure. */
    struct event_stream stream;
    size_t events; /* Number of events from the current stream. */
};

static uint64_t now_ms(const struct watching *all) {
    return host_monotonic_ms(all->client->host);
}

/* Returns the remaining milliseconds. The first watch's time limit applies to all. */
static unsigned left(const struct watching *all) {
    uint64_t waited = now_ms(all) - all->start, whole = all->waits[0].watch->timeout_ms;

    return waited < whole ? (unsigned)(whole - waited) : 0;
}

static bool wants_list(const struct wait *w) {
    return !w->version || w->only_list;
}

/* Is there a watch whose pause is over and that needs a list, or (with `stream`) its stream? */
static bool any_wants(const struct watching *all, bool stream) {
    uint64_t now = now_ms(all);

    for (size_t i = 0; i < all->count; i++)
        if (all->waits[i].due <= now && (stream || wants_list(&all->waits[i])))
            return true;
    return false;
}

static void tell(struct wait *w, const char *type, const json_t *object) {
    if (w->watch->name && !text_equal(type, "LISTED") &&
        !text_equal(json_text_at(object, "metadata.name"), w->watch->name))
        return; /* Ignore other objects: the server may not support field selectors. */
    if (w->all->outcome == 0)
        w->all->outcome = w->watch->on_event(w->watch->context, type, object, w->all->err);
}

static void tick(struct watching *all) {
    const struct kube_watch *first = all->waits[0].watch;
    uint64_t now = now_ms(all);

    if (all->outcome || all->ticks || now - all->last_tick < TICK_MS)
        return;
    all->last_tick = now;
    /* Streams continue while a callback sends requests, so this flag prevents nested calls. */
    all->ticks = true;
    if (host_interrupted(all->client->host))
        all->outcome = error_set(all->err, ERROR_INTERRUPTED, "wait: interrupted");
    else if (first->on_tick)
        all->outcome = first->on_tick(first->tick_context ? first->tick_context : first->context,
                                      (unsigned)(now - all->start), all->err);
    all->ticks = false;
}

static void pause_for(struct wait *w, unsigned ms) {
    w->due = now_ms(w->all) + ms;
}

/* Sleeps in short slices, so that on_tick continues to be called. */
static void sleep_until(struct watching *all, uint64_t end) {
    while (all->outcome == 0) {
        uint64_t now = now_ms(all), most = now + left(all);
        uint64_t to = end < most ? end : most;
        unsigned slice = to > now ? (unsigned)(to - now) : 0;

        if (!slice)
            return;
        if (host_sleep(all->client->host, slice < TICK_MS ? slice : TICK_MS, all->err) < 0)
            all->outcome = -1;
        tick(all);
    }
}

static void keep_version(struct wait *w, const char *version) {
    if (!version || text_equal(version, w->version) || strlen(version) > VERSION_MAX)
        return;
    text_set(&w->version, xstrdup(version));
}

/* ---- listing ---- */

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
    _cleanup_(freep) char *path = make_path(w, NULL), *version = NULL;
    _cleanup_json_ json_t *all = NULL;
    json_t *items;

    if (w->watch->list) {
        version = w->expired ? xstrdup("") : NULL;
        if (w->watch->list(w->watch->context, w->all->client, &version, err) < 0)
            return -1;
        w->expired = false;
        keep_version(w, version && *version ? version : NULL);
        return 0;
    }
    if ((w->watch->name ? kube_get : kube_pages_get)(w->all->client, path, &all, err) < 0)
        return -1;
    if (kube_list_items(all, &items, err) < 0)
        return error_prefix(err, "GET %s", w->watch->path);
    json_each(items, i, item)
        tell(w, "ADDED", item);
    tell(w, "LISTED", all);
    keep_version(w, json_text_at(all, "metadata.resourceVersion"));
    return 0;
}

/* ---- watching ---- */

static int on_data(void *context, const char *data, size_t len) {
    struct wait *w = context;

    if (!len) /* Tick only when no data arrived, because no request may be sent while data is
                 processed. */
        tick(w->all);
    while (len && w->all->outcome == 0 && w->version) {
        _cleanup_json_ json_t *event = NULL;
        size_t n = event_stream_take(&w->stream, data, len, &event);
        const json_t *object = json_object_get(event, "object");
        const char *type = json_text_at(event, "type");

        if (w->stream.piece.overflow)
            return 1;
        data += n;
        len -= n;
        w->events += event != NULL;
        if (text_equal(type, "ERROR")) {
            /* 410 means that the version is too old. A new list helps against other errors, too. */
            log_message(LOG_RETRY, "watch %s: %s", w->watch->path,
                        json_text_or(object, "message", "error"));
            text_set(&w->version, NULL);
            w->expired = true;
        } else if (event) {
            keep_version(w, json_text_at(object, "metadata.resourceVersion"));
            if (!text_equal(type, "BOOKMARK"))
                tell(w, type, object);
        }
    }
    w->all->cut |= any_wants(w->all, now_ms(w->all) - w->all->began >= TURN_MS);
    return w->all->outcome != 0 || w->all->cut || !w->version || left(w->all) == 0 ||
           (w->stream.words &&
            (w->stream.form == STREAM_FRAMES || w->stream.piece.len > WORDS_MAX));
}

/* One stream of events. */
struct stream {
    struct wait *wait;
    char *path;
    struct kube_call call;
    struct http_response response;
    struct error why;
};

/* Evaluates the end of a stream. After a short stream there is always a pause, even if it brought
 * events: otherwise a server that calls each version too old would be asked without end. */
static int end_stream(struct stream *s, struct error *err) {
    struct wait *w = s->wait;
    long status = s->response.status;
    bool answered = !s->why.kind && !w->all->outcome && w->version;

    if (s->why.kind && !w->events)
        return error_pass(err, &s->why);
    if (s->why.kind) /* All clients of the server lost their streams at the same time, so wait for a
                        random time. */
        sleep_until(w->all, now_ms(w->all) + host_spread_ms(w->all->client->host, 0, DROP_MS));
    if (answered && w->stream.piece.overflow)
        return error_set(
            err, ERROR_MALFORMED, "watch %s: an event is longer than %d bytes", w->watch->path,
            w->stream.form == STREAM_FRAMES ? (int)EVENT_FRAME_MAX : (int)EVENT_LINE_MAX);
    if (answered && status == 410) {
        text_set(&w->version, NULL);
        w->expired = true;
        answered = false;
    }
    if (answered && (status < 200 || status > 299))
        return kube_status_error("WATCH", w->watch->path, status, text_str(&w->stream.piece),
                                 w->stream.piece.len, err);
    if (answered && w->stream.words)
        return error_set(err, ERROR_NETWORK, "watch %s: %s: %.120s", w->watch->path,
                         w->stream.why.message, text_str(&w->stream.piece));
    if (answered && w->events == 0 && !w->all->cut && now_ms(w->all) - w->all->began < LIVELY_MS)
        return error_set(err, ERROR_NETWORK, "watch %s: the stream ended immediately",
                         w->watch->path);
    if ((!w->all->cut || !w->version) && now_ms(w->all) - w->all->began < LIVELY_MS)
        pause_for(w, host_spread_ms(w->all->client->host, LIVELY_MS, 2 * LIVELY_MS));
    return 0;
}

/* ---- the main loop ---- */

/* Evaluates the result of a step of a watch. Returns 0 to continue, -1 after a final failure. */
static int settle(struct wait *w, int result, struct error *why) {
    uint64_t now = now_ms(w->all);
    unsigned poll = w->poll_ms;
    bool silent = w->watch->silent_ms && now - w->heard >= w->watch->silent_ms;
    bool passes = error_is_retryable(why);

    if (result == 0) {
        w->failures = 0;
        w->heard = now;
        w->let_in = true;
        w->refused = 0;
        return 0;
    }
    if (w->all->outcome)
        return 0;
    if (why->kind == ERROR_DENIED && why->os != HTTP_UNAUTHORIZED && w->version && !w->only_list) {
        log_message(LOG_RETRY, "%s; polling every %u ms instead", why->message, poll);
        w->only_list = true;
        if (w->watch->poll_ms) /* The watch has just listed, so pause before the next list. */
            pause_for(w, poll);
        return 0;
    }
    w->last = *why;

    /* A server that has just started may answer before it has loaded its tokens and roles. */
    if (why->kind == ERROR_DENIED && (w->let_in || (w->known && why->os == HTTP_UNAUTHORIZED))) {
        if (!w->refused)
            w->refused = now + 1; /* Add 1, because 0 means "not refused". */
        passes = now + 1 - w->refused < STRANGER_MS;
    }
    if (passes && !silent) {
        log_message(LOG_RETRY, "%s; trying again", why->message);
        pause_for(w, kube_pause_ms(w->all->client->host, w->failures, -1));
        w->failures++;
        return 0;
    }
    if (!w->watch->poll_ms) {
        *w->all->err = *why;
        return -1;
    }
    log_message(LOG_RETRY, "%s; trying again in %u s", why->message, poll / 1000);
    pause_for(w, host_spread_ms(w->all->client->host, poll, poll / 5 * 6));
    return 0;
}

static int list_all_due(struct watching *all) {
    for (size_t i = 0; i < all->count && all->outcome == 0; i++) {
        struct wait *w = &all->waits[i];
        struct error why = {0};
        int result;

        if (!wants_list(w) || w->due > now_ms(all))
            continue;
        result = list(w, &why);
        if (result == 0 && wants_list(w))
            pause_for(
                w, host_spread_ms(all->client->host, w->poll_ms / 2, w->poll_ms + w->poll_ms / 2));
        if (settle(w, result, &why) < 0)
            return -1;
    }
    return 0;
}

static void on_end(void *context, const struct http_exchange *) {
    ((struct wait *)context)->due = 0;
}

static void perform(struct watching *all, struct stream *streams, size_t count) {
    struct http_exchange *exchanges = xcalloc(count, sizeof *exchanges);
    _cleanup_(text_list_free) struct text_list urls = {0};

    for (size_t i = 0; i < count; i++) {
        text_list_add_owned(&urls, xasprintf("%s%s", all->client->server, streams[i].path));
        kube_request_fill(all->client, &streams[i].call, urls.items[i], &exchanges[i].request);
        exchanges[i].err = &streams[i].why;
        exchanges[i].ended = on_end;
    }
    all->client->requests += (unsigned)count;
    http_perform_all(all->client->http, exchanges, count, 0);
    for (size_t i = 0; i < count; i++) {
        streams[i].response = exchanges[i].response;
        if (streams[i].why.kind)
            (void)error_prefix(&streams[i].why, "GET %s", urls.items[i]);
    }
    free(exchanges);
}

/* Runs the streams of all watches that are not in a pause, at the same time. Returns false when
 * there are none. */
static bool stream_all(struct watching *all, int *ret) {
    struct stream *streams = xcalloc(all->count, sizeof *streams);
    unsigned silent = all->waits[0].watch->silent_ms, most = silent ? silent / 2 : STREAM_MS;
    unsigned longest = host_spread_ms(all->client->host, most / 2, most);
    unsigned ms = left(all) < longest ? left(all) : longest;
    size_t count = 0;

    all->began = now_ms(all);
    for (size_t i = 0; i < all->count; i++) {
        struct wait *w = &all->waits[i];
        struct stream *s = &streams[count];
        _cleanup_(freep) char *version = NULL, *query = NULL;

        if (wants_list(w) || w->due > all->began)
            continue;
        version = kube_escape(w->version);
        query =
            xasprintf("watch=true&allowWatchBookmarks=true&resourceVersion=%s&timeoutSeconds=%u",
                      version, ms / 1000 + 1);
        s->wait = w;
        s->path = make_path(w, query);
        s->call = (struct kube_call){.method = "GET",
                                     .path = s->path,
                                     .accept = w->watch->protobuf ? KUBE_PROTOBUF_ACCEPT : NULL,
                                     .timeout_ms = ms + STREAM_GRACE_MS,
                                     .silent_ms = STREAM_SILENT_MS,
                                     .on_data = on_data,
                                     .on_data_context = w};
        w->due = UINT64_MAX;
        w->events = 0;
        event_stream_begin(&w->stream);
        count++;
    }
    all->cut = false;
    if (count == 1)
        (void)kube_perform(all->client, &streams[0].call, &streams[0].response, &streams[0].why);
    else if (count)
        perform(all, streams, count);
    for (size_t i = 0; i < count; i++) {
        struct error why = {0};

        streams[i].wait->due = 0;
        if (*ret == 0)
            *ret = settle(streams[i].wait, end_stream(&streams[i], &why), &why);
        http_response_free(&streams[i].response);
        free(streams[i].path);
    }
    free(streams);
    return count;
}

/* Runs the watches until a callback, the time limit or a final failure ends them. */
static int go_on(struct watching *all) {
    const struct wait *first = &all->waits[0];
    int result = 0;

    for (; all->outcome == 0 && result == 0; tick(all)) {
        uint64_t due = UINT64_MAX;

        if (left(all) == 0)
            result = error_set(all->err, ERROR_TIMED_OUT, "waited %u s%s%s",
                               first->watch->timeout_ms / 1000,
                               first->last.kind ? "; last failure: " : "",
                               first->last.kind ? first->last.message : "");
        else if (any_wants(all, false))
            result = list_all_due(all);
        else if (!stream_all(all, &result)) {
            for (size_t i = 0; i < all->count; i++)
                if (all->waits[i].due < due)
                    due = all->waits[i].due;
            sleep_until(all, due);
        }
    }
    return all->outcome ? (all->outcome > 0 ? 0 : -1) : result;
}

int kube_watch(struct kube_client *client, const struct kube_watch *watches, size_t count,
               struct error *err) {
    struct error own = {0};
    struct watching all = {.client = client,
                           .waits = xcalloc(count, sizeof *all.waits),
                           .count = count,
                           .start = host_monotonic_ms(client->host),
                           .err = err ? err : &own};
    int result;

    all.last_tick = all.start;
    for (size_t i = 0; i < count; i++) {
        struct wait *w = &all.waits[i];

        *w = (struct wait){.all = &all,
                           .watch = &watches[i],
                           .poll_ms = watches[i].poll_ms ? watches[i].poll_ms : POLL_MS,
                           .heard = all.start};
        if (watches[i].version && *watches[i].version)
            keep_version(w, watches[i].version);
        w->known = w->version;
    }
    result = go_on(&all);
    for (size_t i = 0; i < count; i++) {
        if (watches[i].ret_version)
            text_set(watches[i].ret_version, take_ptr(all.waits[i].version));
        free(all.waits[i].version);
        text_free(&all.waits[i].stream.piece);
    }
    free(all.waits);
    return result;
}
