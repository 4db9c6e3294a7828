/* One file of a mirror: fetched whole or not at all, in bounded time, again after what may pass. */
#include "services/mirror.h"

#include <ctype.h>
#include <string.h>

#include "base/memory.h"

enum {
    FILE_MS = 30 * 60 * 1000, /* one file, however fast */
    STALL_MS = 30 * 1000,
    STALL_BYTES = 30 * 1024, /* less than this in STALL_MS is a server that drips */
    TELL_MS = 1000,
    PAUSE_MS = 1000, /* after the first failure; doubled after each further one */
    DOUBLINGS_MAX = 4,
    RETRY_AFTER_MAX = 60, /* seconds */
};

/* One request under way. */
struct fetch {
    const struct mirror *mirror;
    const char *path;
    size_t max;
    struct text body;
    uint64_t begin_ms, asked_ms, told_ms;
    uint64_t window_ms; /* the bytes of the last STALL_MS are counted from here */
    size_t window_len;
    bool too_long, too_slow;
};

char *mirror_url(const struct mirror *mirror, const char *path) {
    size_t len = mirror->url ? strlen(mirror->url) : 0;
    struct text out = {0};

    while (len && mirror->url[len - 1] == '/')
        len--;
    text_add_bytes(&out, mirror->url, len);
    text_add(&out, mirror->url ? "/" : "https://");
    for (const char *p = path; *p; p++)
        if (isalnum((unsigned char)*p) || strchr("-._~/", *p))
            text_add_char(&out, *p);
        else
            text_addf(&out, "%%%02X", (unsigned char)*p);
    return text_take(&out);
}

/* As fast as so far. */
static unsigned seconds_left(const struct fetch *f, uint64_t now) {
    double rate = (double)f->body.len / (double)(now - f->asked_ms + 1);

    return (unsigned)((double)(f->mirror->size - f->body.len) / rate / 1000) + 1;
}

static void tell(struct fetch *f, uint64_t now) {
    _cleanup_(freep) char *message = NULL;

    if (!f->mirror->tell || now - f->told_ms < TELL_MS)
        return;
    f->told_ms = now;
    message = f->mirror->size > f->body.len && f->body.len
                  ? xasprintf("%s: %.1f of %.1f MB, %u s left", f->path, (double)f->body.len / 1e6,
                              (double)f->mirror->size / 1e6, seconds_left(f, now))
                  : xasprintf("%s: %.1f MB", f->path, (double)f->body.len / 1e6);
    f->mirror->tell(f->mirror->context, (unsigned)(now - f->begin_ms), message);
}

/* Nonzero ends the request. */
static int on_data(void *context, const char *data, size_t len) {
    struct fetch *f = context;
    uint64_t now = host_monotonic_ms(f->mirror->host);

    if (len > f->max - f->body.len) {
        f->too_long = true;
        return 1;
    }
    if (len)
        text_add_bytes(&f->body, data, len);
    if (now - f->window_ms >= STALL_MS) {
        f->too_slow = f->body.len - f->window_len < STALL_BYTES;
        f->window_ms = now;
        f->window_len = f->body.len;
    }
    tell(f, now);
    return f->too_slow;
}

static int refuse_status(const char *url, long status, struct error *err) {
    switch (status) {
    case 401:
    case 403:
        return error_set(
            err, ERROR_DENIED,
            "GET '%s': the server answers %ld: access requires credentials, and winjoin "
            "sends none",
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
               ? error_hint(err, "redirects are not followed: give the address that it leads to")
               : -1;
}

static bool status_may_pass(long status) {
    return status == 429 || status == 500 || status == 502 || status == 503 || status == 504;
}

/* What came of a request; *ret_may_pass is filled on failure. */
static int judge(const struct fetch *f, const char *url, int performed, long status,
                 bool *ret_may_pass, struct error *err) {
    *ret_may_pass = true;
    if (f->too_slow)
        return error_set(err, ERROR_TIMED_OUT, "GET '%s': fewer than %d bytes received in %d s",
                         url, STALL_BYTES, STALL_MS / 1000);
    if (performed < 0) {
        *ret_may_pass = err->kind == ERROR_NETWORK || err->kind == ERROR_TIMED_OUT;
        return -1;
    }
    *ret_may_pass = status_may_pass(status);
    if (status != 200)
        return refuse_status(url, status, err);
    return f->too_long ? error_set(err, ERROR_UNTRUSTED, "refuse '%s': it is longer than %zu bytes",
                                   url, f->max)
                       : 0;
}

static int fetch_once(struct fetch *f, const char *url, bool *ret_may_pass, long *ret_retry_after,
                      struct error *err) {
    struct http_request request = {.url = url,
                                   .timeout_ms = FILE_MS,
                                   .on_data = on_data,
                                   .on_data_context = f,
                                   .follow_redirects = f->mirror->follows_redirects};
    struct http_response response = {0};
    int result = http_perform(f->mirror->http, &request, &response, err);

    *ret_retry_after = result == 0 ? response.retry_after : -1;
    result = judge(f, url, result, response.status, ret_may_pass, err);
    if (result < 0)
        (void)http_hint_proxy(err, response.proxy);
    http_response_free(&response);
    return result;
}

/* Many machines that were turned away together do not come back together. */
static unsigned pause_after(struct host *host, unsigned attempt, long retry_after) {
    unsigned doublings = attempt < DOUBLINGS_MAX ? attempt : DOUBLINGS_MAX;
    unsigned pause = PAUSE_MS << doublings;

    if (retry_after > 0)
        pause = 1000 * (unsigned)(retry_after < RETRY_AFTER_MAX ? retry_after : RETRY_AFTER_MAX);
    return host_spread_ms(host, pause, 2 * pause);
}

/* Sleeps before the next try; -1 when there is no time left for one (`why` stays) or when the user
 * wants none (`why` says so). */
static int bear(const struct mirror *mirror, uint64_t begin_ms, unsigned pause, struct error *why) {
    uint64_t waited = host_monotonic_ms(mirror->host) - begin_ms;
    _cleanup_(freep) char *message = NULL;

    if (waited + pause > mirror->limit_ms)
        return -1;
    message = xasprintf("%s; next try in %u s", why->message, (pause + 999) / 1000);
    if (mirror->tell)
        mirror->tell(mirror->context, (unsigned)waited, message);
    return host_sleep(mirror->host, pause, why);
}

int mirror_fetch(const struct mirror *mirror, const char *path, size_t max, char **ret,
                 size_t *ret_len, struct error *err) {
    _cleanup_(freep) char *url = mirror_url(mirror, path);
    uint64_t begin_ms = host_monotonic_ms(mirror->host);
    struct error why = {0};

    for (unsigned attempt = 0;; attempt++) {
        uint64_t now = host_monotonic_ms(mirror->host);
        struct fetch f = {.mirror = mirror,
                          .path = path,
                          .max = max,
                          .begin_ms = begin_ms,
                          .asked_ms = now,
                          .told_ms = now,
                          .window_ms = now};
        long retry_after = -1;
        bool may_pass = false;

        f.body.cap = max + 1;
        if (fetch_once(&f, url, &may_pass, &retry_after, &why) == 0) {
            *ret_len = f.body.len;
            *ret = text_take(&f.body);
            return 0;
        }
        text_free(&f.body);
        if (!may_pass ||
            bear(mirror, begin_ms, pause_after(mirror->host, attempt, retry_after), &why) < 0) {
            if (err)
                *err = why;
            return -1;
        }
    }
}
