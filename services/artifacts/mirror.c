/* Downloads files of a mirror together, each completely or not at all, within a time limit.
 * Downloads continue after temporary failures. */
#include "services/artifacts/mirror.h"

enum {
    ALL_MS = 30 * 60 * 1000, /* Limit for all files together. */
    LARGE_MS = 12 * ALL_MS,  /* Limit for all files together when one of them goes to disk. */
    LIMIT_MS = 60 * 1000,
    ALL_MAX = 1024 * 1024 * 1024,
    STALL_MS = 30 * 1000,
    STALL_BYTES = 30 * 1024, /* Fewer bytes than this in STALL_MS count as too slow. */
    TELL_MS = 1000,
    PAUSE_MS = 1000, /* Pause after the first failure, doubled after each further one. */
    DOUBLINGS_MAX = 4,
    RETRY_AFTER_MAX = 60, /* Longest Retry-After in seconds. */
    AT_ONCE = 16,
    PART_BYTES = 4 * 1024 * 1024, /* Size of the parts of a file that are saved on disk. */
};

/* The download of one file. */
struct fetch {
    struct batch *batch;
    struct mirror_file *file;
    char *url;
    struct text body;
    uint64_t written;   /* Bytes already written to the file `into`, before the body. */
    struct digest *sum; /* Digest of the bytes that are written. */
    uint64_t length;    /* Length of the whole file, from the server; 0 = not known. */
    size_t saved;       /* Bytes of body that are saved on disk, in whole parts. */
    uint64_t furthest;  /* Most bytes that any attempt has reached. */
    uint64_t furthest_ms;
    unsigned attempt;   /* Failed attempts since furthest_ms. */
    uint64_t window_ms; /* Start of the present interval of STALL_MS. */
    uint64_t window_len;
    /* State of this request, of the body, and of all later requests. */
    bool asks_part, has_parts, only_whole;
    bool too_slow, odd_part; /* Faults of this request. */
    size_t too_long;         /* The limit that the file exceeds, or 0. */
    bool done, may_pass;
    unsigned pause_ms;
    struct error why, disk;
};
/* The downloads that run together. */
struct batch {
    const struct mirror *mirror;
    struct fetch *fetches;
    size_t count;
    uint64_t begin_ms, told_ms, received, limit_ms;
    struct fetch *failed; /* A download that failed finally and so stops the others. */
};

char *mirror_url(const struct mirror *mirror, const char *path) {
    size_t len = mirror->url ? strlen(mirror->url) : 0;
    struct text out = {0};

    while (len && mirror->url[len - 1] == '/')
        len--;
    text_add_bytes(&out, mirror->url, len);
    text_add(&out, mirror->url ? "/" : "https://");
    text_add_url(&out, path, "/:");
    return text_take(&out);
}

/* ---- progress of downloads ---- */

/* Returns how many bytes of the file were received. */
static uint64_t come(const struct fetch *f) {
    return f->done ? f->file->len : f->written + f->body.len;
}

static uint64_t held(const struct batch *batch) {
    uint64_t sum = 0;

    for (size_t i = 0; i < batch->count; i++)
        sum += come(&batch->fetches[i]);
    return sum;
}

static void tell(struct batch *batch, uint64_t now) {
    const struct mirror *mirror = batch->mirror;
    uint64_t have = held(batch), all = 0,
             rate = batch->received * 1000 / (now - batch->begin_ms + 1);
    _cleanup_(text_free) struct text message = {0};
    bool known = true;

    if (!mirror->tell || now - batch->told_ms < TELL_MS)
        return;
    batch->told_ms = now;
    for (size_t i = 0; i < batch->count; i++) {
        const struct fetch *f = &batch->fetches[i];

        all += f->done ? f->file->len : f->length;
        known = known && (f->done || f->length);
        if (!f->done)
            text_addf(&message, "%s%s", message.len ? ", " : "",
                      f->file->name ? f->file->name : f->file->path);
    }
    known = known && all >= have && all;
    text_addf(&message, known ? ": %.1f of %.1f MB" : ": %.1f MB", (double)have / 1e6,
              (double)all / 1e6);
    if (rate)
        text_addf(&message, ", %.1f MB/s", (double)rate / 1e6);
    if (rate && known)
        text_addf(&message, ", %u s left", (unsigned)((all - have) / rate + 1));
    mirror->tell(mirror->context, (unsigned)(now - batch->begin_ms),
                 known ? (unsigned)(have * 100 / all) : 0, text_str(&message));
}

/* ---- a file that goes directly to disk ---- */

/* Discards what was received. */
static void forget(struct fetch *f) {
    text_clear(&f->body);
    f->saved = 0;
    f->written = 0;
    digest_end(f->sum, NULL);
    f->sum = f->file->into ? digest_begin() : NULL;
}

/* Writes the body when it has at least this many bytes. */
static int write_into(struct fetch *f, size_t least, struct error *err) {
    const struct mirror_file *file = f->file;

    if (!file->into || f->body.len < least)
        return 0;
    if (host_write_part(f->batch->mirror->host, file->into, file->at + f->written, f->body.data,
                        f->body.len, HOST_PUBLIC, err) < 0)
        return -1;
    digest_add(f->sum, f->body.data, f->body.len);
    f->written += f->body.len;
    text_clear(&f->body);
    return 0;
}

/* ---- parts saved on disk ---- */

static char *part_path(const struct fetch *f) {
    return xasprintf("%s\\%s.%zu", f->batch->mirror->parts, f->file->sha256, f->saved / PART_BYTES);
}

/* Loads what an earlier run has left, in the file itself or as parts. It is not trusted: the
 * SHA-256 of the whole file decides. */
static void load(struct fetch *f) {
    const struct mirror *mirror = f->batch->mirror;
    struct mirror_file *file = f->file;

    while (!file->into && mirror->parts && file->sha256 && f->saved + PART_BYTES <= file->max) {
        _cleanup_(freep) char *path = part_path(f), *data = NULL;
        size_t len = 0;

        if (host_file_type(mirror->host, path) != HOST_FILE ||
            host_read(mirror->host, path, PART_BYTES, &data, &len, NULL) < 0 || len != PART_BYTES)
            return;
        text_add_bytes(&f->body, data, len);
        f->saved += PART_BYTES;
    }
    for (size_t len = PART_BYTES; file->into && len == PART_BYTES && f->written < file->max;) {
        size_t left = file->max - (size_t)f->written;
        _cleanup_(freep) char *data = NULL;
        uint64_t size;

        if (host_read_part(mirror->host, file->into, file->at + f->written,
                           left < PART_BYTES ? left : PART_BYTES, &data, &len, &size, NULL) < 0)
            return;
        digest_add(f->sum, data, len);
        f->written += len;
    }
    if (f->written < file->max || !file->into)
        return;
    digest_end(take_ptr(f->sum), file->digest);
    f->done = text_equal(file->digest, file->sha256);
    file->len = (size_t)f->written;
    if (!f->done)
        forget(f);
}

/* ---- one response ---- */

/* Checks the response's head. A nonzero result ends the request. A response without a file is
 * judged later by its status. */
static int on_head(void *context, const struct http_response *head) {
    struct fetch *f = context;
    uint64_t length = head->length > 0 ? (uint64_t)head->length : 0;

    if (head->status == 206 && f->asks_part) {
        f->odd_part = head->range_begin != (int64_t)come(f) ||
                      (f->length && length && f->length != come(f) + length);
        f->has_parts = true;
        length += length ? come(f) : 0;
    } else {
        forget(f); /* The server sends the file from its start. */
        f->has_parts = false;
    }
    f->length = length;
    f->window_len = come(f);
    f->too_long = length > f->file->max && !f->file->head ? f->file->max : 0;
    return f->too_long || f->odd_part || (head->status != 200 && head->status != 206);
}

static int on_data(void *context, const char *data, size_t len) {
    struct fetch *f = context;
    struct batch *batch = f->batch;
    const struct mirror *mirror = batch->mirror;
    uint64_t now = host_monotonic_ms(mirror->host);
    size_t room = f->file->max - (size_t)come(f);
    bool enough = f->file->head && len >= room;

    if (enough)
        len = room;
    else if (len > room)
        f->too_long = f->file->max;
    else if (!f->file->into && len + held(batch) > ALL_MAX)
        f->too_long = ALL_MAX;
    if (batch->failed || f->too_long)
        return 1;
    text_add_bytes(&f->body, data, len);
    batch->received += len;
    if (come(f) >= f->furthest + STALL_BYTES) {
        f->furthest = come(f);
        f->furthest_ms = now;
        f->attempt = 0;
    }
    /* When a part cannot be saved, the download goes on, but a later run cannot continue it. */
    while (mirror->parts && f->file->sha256 && !f->file->into &&
           f->body.len - f->saved >= PART_BYTES) {
        _cleanup_(freep) char *path = part_path(f);

        if (host_make_folder(mirror->host, mirror->parts, HOST_SECRET, NULL) < 0 ||
            host_write(mirror->host, path, f->body.data + f->saved, PART_BYTES, HOST_SECRET, NULL) <
                0)
            break;
        f->saved += PART_BYTES;
    }
    if (now - f->window_ms >= STALL_MS) {
        f->too_slow = come(f) - f->window_len < STALL_BYTES;
        f->window_ms = now;
        f->window_len = come(f);
    }
    tell(batch, now);
    return write_into(f, PART_BYTES, &f->disk) < 0 || f->too_slow || enough;
}

static int refuse_status(const char *url, long status, struct error *err) {
    switch (status) {
    case 401:
    case 403:
        return error_set(
            err, ERROR_DENIED,
            "GET '%s': the server answers %ld: access requires credentials, and winjoin sends none",
            url, status);
    case 404:
    case 410:
        return error_set(err, ERROR_ABSENT, "GET '%s': the server answers %ld: no such file", url,
                         status);
    default:
        break;
    }
    (void)error_set(err, ERROR_NETWORK, "GET '%s': the server answers %ld", url, status);
    return status >= 300 && status < 400
               ? error_hint(err, "redirects are not followed: use the address that it redirects to")
               : -1;
}

/* Makes the next request ask for the whole file. */
static int start_over(struct fetch *f, const char *why) {
    f->only_whole = f->may_pass = true;
    return error_set(&f->why, ERROR_NETWORK, "GET '%s': %s", f->url, why);
}

/* Evaluates a finished request. On failure may_pass says whether a retry can help. */
static int judge(struct fetch *f, const struct http_exchange *x) {
    long status = x->response.status;

    f->may_pass = true;
    if (f->too_slow)
        return error_set(&f->why, ERROR_TIMED_OUT, "GET '%s': fewer than %d bytes received in %d s",
                         f->url, STALL_BYTES, STALL_MS / 1000);
    if (f->disk.kind != ERROR_NONE) {
        f->may_pass = false;
        return error_pass(&f->why, &f->disk);
    }
    if (f->why.kind != ERROR_NONE) {
        f->may_pass = f->why.kind == ERROR_NETWORK || f->why.kind == ERROR_TIMED_OUT;
        return -1;
    }
    if (f->odd_part || (status == 416 && f->asks_part) || (f->has_parts && f->too_long))
        return start_over(f, "the file on the server changed during the download");
    f->may_pass = status == 429 || status == 500 || status == 502 || status == 503 || status == 504;
    if (status != 200 && !(status == 206 && f->asks_part))
        return refuse_status(f->url, status, &f->why);
    if (f->too_long)
        return error_set(&f->why, ERROR_UNTRUSTED, "GET '%s': longer than %zu bytes", f->url,
                         f->too_long);
    if (write_into(f, 1, &f->disk) < 0)
        return error_pass(&f->why, &f->disk);
    if (f->sum)
        digest_end(take_ptr(f->sum), f->file->digest);
    else
        digest_sha256(text_str(&f->body), f->body.len, f->file->digest);
    return !f->has_parts || text_equal(f->file->digest, f->file->sha256)
               ? 0
               : start_over(f, "its parts do not add up to the file");
}

/* Finishes a file, or decides whether and when it is requested again. */
static void ended(void *context, const struct http_exchange *x) {
    struct fetch *f = context;
    struct batch *batch = f->batch;
    const struct mirror *mirror = batch->mirror;
    unsigned limit = mirror->limit_ms && mirror->limit_ms < LIMIT_MS ? mirror->limit_ms : LIMIT_MS;
    uint64_t now = host_monotonic_ms(mirror->host);
    long retry =
        x->response.retry_after < RETRY_AFTER_MAX ? x->response.retry_after : RETRY_AFTER_MAX;
    unsigned pause;

    if (batch->failed)
        return;
    if (judge(f, x) == 0) {
        f->file->len = (size_t)come(f);
        f->file->data = f->file->into ? NULL : text_take(&f->body);
        f->done = true;
        if (f->file->arrived)
            f->file->arrived(f->file->arrived_context, f->file);
        return;
    }
    if (x->response.status == 401 && x->response.challenge && !f->file->challenge)
        f->file->challenge = xstrdup(x->response.challenge);
    (void)http_hint_proxy(&f->why, x->response.proxy, false);
    /* The pause is random, so that many machines that failed together do not retry together. */
    pause = retry > 0
                ? 1000 * (unsigned)retry
                : (unsigned)PAUSE_MS << (f->attempt < DOUBLINGS_MAX ? f->attempt : DOUBLINGS_MAX);
    f->attempt++;
    f->pause_ms = host_spread_ms(mirror->host, pause, 2 * pause);
    if (!f->file->sha256 || f->only_whole)
        forget(f);
    f->saved = f->saved < f->body.len ? f->saved : f->body.len;
    if (!f->may_pass || now - f->furthest_ms + f->pause_ms > limit ||
        now - batch->begin_ms + f->pause_ms > batch->limit_ms)
        batch->failed = f;
}

/* ---- all files ---- */

/* Sends one request for each file that is not complete; returns false when all are. */
static bool ask_all(struct batch *batch) {
    _cleanup_(freep) struct http_exchange *exchanges = xcalloc(AT_ONCE, sizeof *exchanges);
    uint64_t now = host_monotonic_ms(batch->mirror->host);
    size_t asked = 0;

    for (size_t i = 0; i < batch->count && asked < AT_ONCE; i++) {
        struct fetch *f = &batch->fetches[i];

        if (f->done)
            continue;
        f->too_slow = f->odd_part = false;
        f->too_long = 0;
        error_clear(&f->why);
        f->asks_part = come(f) > 0;
        f->window_ms = now;
        f->window_len = come(f);
        exchanges[asked++] = (struct http_exchange){
            .request = {.url = f->url,
                        .accept = f->file->accept,
                        .bearer_token = f->file->bearer_token,
                        .timeout_ms = (unsigned)(batch->limit_ms - (now - batch->begin_ms)),
                        .on_head = on_head,
                        .on_data = on_data,
                        .on_data_context = f,
                        .range_begin = come(f),
                        .follow_redirects = batch->mirror->follows_redirects},
            .err = &f->why,
            .ended = ended};
    }
    http_perform_all(batch->mirror->http, exchanges, asked, 0);
    for (size_t i = 0; i < asked; i++)
        http_response_free(&exchanges[i].response);
    return asked > 0;
}

static int run(struct batch *batch, struct error *err) {
    const struct mirror *mirror = batch->mirror;

    while (ask_all(batch)) {
        const struct fetch *failed = batch->failed, *last = NULL;
        _cleanup_(freep) char *message = NULL;

        if (failed && err)
            *err = failed->why;
        if (failed)
            return failed->file->name ? error_prefix(err, "artifact '%s'", failed->file->name) : -1;

        /* Waits until all failed files may be requested again. */
        for (size_t i = 0; i < batch->count; i++) {
            const struct fetch *f = &batch->fetches[i];

            if (!f->done && f->pause_ms && (!last || f->pause_ms > last->pause_ms))
                last = f;
        }
        if (!last)
            continue;
        message =
            xasprintf("%s; next try in %u s", last->why.message, (last->pause_ms + 999) / 1000);
        if (mirror->tell)
            mirror->tell(mirror->context,
                         (unsigned)(host_monotonic_ms(mirror->host) - batch->begin_ms), 0, message);
        if (host_sleep(mirror->host, last->pause_ms, err) < 0)
            return -1;
    }
    return 0;
}

int mirror_fetch_all(const struct mirror *mirror, struct mirror_file *files, size_t count,
                     struct error *err) {
    uint64_t now = host_monotonic_ms(mirror->host);
    struct batch batch = {
        .mirror = mirror, .count = count, .begin_ms = now, .told_ms = now, .limit_ms = ALL_MS};
    bool keeps = false;
    int result;

    batch.fetches = xcalloc(count + 1, sizeof *batch.fetches);
    for (size_t i = 0; i < count; i++) {
        batch.fetches[i] = (struct fetch){.batch = &batch,
                                          .file = &files[i],
                                          .url = mirror_url(mirror, files[i].path),
                                          .body = {.cap = files[i].max + 1},
                                          .furthest_ms = now};
        forget(&batch.fetches[i]);
        load(&batch.fetches[i]);
        batch.fetches[i].furthest = come(&batch.fetches[i]);
        batch.limit_ms = files[i].into ? LARGE_MS : batch.limit_ms;
        keeps = keeps || files[i].sha256;
    }
    result = run(&batch, err);
    if (mirror->parts && keeps && (result == 0 || !err || err->kind != ERROR_INTERRUPTED))
        (void)host_remove_tree(mirror->host, mirror->parts, NULL);
    for (size_t i = 0; i < count; i++) {
        free(batch.fetches[i].url);
        text_free(&batch.fetches[i].body);
        digest_end(batch.fetches[i].sum, NULL);
    }
    free(batch.fetches);
    return result;
}
