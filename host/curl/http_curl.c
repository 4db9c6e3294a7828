/* Performs HTTP requests with libcurl; http_curl_tls.c configures TLS. One multi handle keeps the
 * connections. Each request is one easy handle. This file runs all of them in one loop, so that a
 * wait can be interrupted. */
/* This include comes first, because on Windows it includes <windows.h>, which must precede
 * base/error.h. */
#include <curl/curl.h>
#include <openssl/crypto.h>

#include "host/curl/http_curl.h"
#include "host/host_ops.h"

enum {
    POLL_MS = 250,
    TICK_MS = 1000,
    EVIDENCE_MS = 3000,
    HEADERS_MAX = 256 * 1024,
    /* The smallest buffer that libcurl accepts. Each HTTPS request allocates one. */
    UPLOAD_BUFFER = 16 * 1024,
    REDIRECTS_MAX = 5,
    PARALLEL_MAX = 256,  /* Maximum number of simultaneous requests. Others start when these end. */
    PARALLEL_FIRST = 16, /* Number of requests that start at once. Reusing a connection that soon
                            becomes free is cheaper than opening another. */
    STALL_MS = 100,      /* The limit doubles when no request has ended for this long. */
    HANG_MS = 300,   /* When few requests run (at_once), a request that takes longer than this no
                        longer counts, so that another can start. */
    TOO_LARGE = 100, /* The value of CURLE_TOO_LARGE, which exists since libcurl 8.6. */
};

/* One running request. */
struct transfer {
    /* The caller's exchange; NULL when this request only fetches certificates after a failure. */
    struct http_exchange *exchange;
    const struct http_request *request;
    struct http_response *response;
    struct error *err;
    CURL *easy;
    struct curl_slist *headers, *connect_to;
    struct http_curl_tls tls;
    struct text body;
    size_t streamed, header_bytes;
    bool has_head; /* The response head has been received completely, including its empty line. */
    bool only_connects; /* Only connects, then stops before sending a request. */
    bool begun, runs;
    bool stopped;  /* on_head or on_data asked to end the request. */
    bool too_long; /* The body or the headers exceed their limit. */
    uint64_t last_tick_ms, heard_ms;
    char why[CURL_ERROR_SIZE];
};

static uint64_t elapsed_ms(const struct transfer *transfer) {
    curl_off_t us = 0;

    /* libcurl's time is 0 before the transfer starts. */
    (void)curl_easy_getinfo(transfer->easy, CURLINFO_TOTAL_TIME_T, &us);
    return (uint64_t)us / 1000;
}

/* libcurl calls this when the connection is ready and before it sends the request. */
static int on_connected(void *context, char *, char *, int, int) {
    struct transfer *transfer = context;

    /* Free the certificates of the server that redirected to this one. */
    free(transfer->response->server_certs);
    transfer->response->server_certs = http_curl_chain(transfer->easy);
    return transfer->only_connects ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

static size_t on_body(char *data, size_t size, size_t count, void *context) {
    struct transfer *transfer = context;
    const struct http_request *request = transfer->request;
    size_t len = size * count, max = request->max_body ? request->max_body : HTTP_BODY_MAX;

    transfer->heard_ms = elapsed_ms(transfer);
    if (request->on_data) {
        /* The status and headers are known now, before the first piece of the body. */
        if (request->on_head && !transfer->streamed) {
            http_curl_head(transfer->easy, transfer->response);
            transfer->stopped = request->on_head(request->on_data_context, transfer->response) != 0;
            if (transfer->stopped)
                return 0;
        }
        transfer->streamed += len;
        transfer->too_long = request->max_body && transfer->streamed > request->max_body;
        transfer->stopped =
            !transfer->too_long && request->on_data(request->on_data_context, data, len) != 0;
        return transfer->too_long || transfer->stopped ? 0 : len;
    }
    transfer->too_long = transfer->body.len + len > max;
    if (transfer->too_long)
        return 0;
    transfer->body.cap = max + 1;
    text_add_bytes(&transfer->body, data, len);
    return len;
}

/* Limits the total size of the headers. libcurl parses the lines, but sets no limit for all heads
 * and trailers of an answer together, and accepts a connection that ends inside the head as a
 * complete answer. */
static size_t on_header(char *line, size_t size, size_t count, void *context) {
    struct transfer *transfer = context;
    size_t len = size * count;

    transfer->header_bytes += len;
    transfer->too_long = transfer->header_bytes > HEADERS_MAX;
    if (len >= 5 && memcmp(line, "HTTP/", 5) == 0)
        transfer->has_head = false;
    else if (len && (*line == '\r' || *line == '\n'))
        transfer->has_head = true;
    return transfer->too_long ? 0 : len;
}

static unsigned timeout_of(const struct http_request *request) {
    return request->timeout_ms ? request->timeout_ms : HTTP_TIMEOUT_MS;
}

static bool is_silent(const struct transfer *transfer) {
    return transfer->request->silent_ms &&
           elapsed_ms(transfer) > transfer->heard_ms + transfer->request->silent_ms;
}

/* Enforces the time limits. libcurl does not check its own limit while a proxy's refusal continues
 * without end. on_body counts the bytes. */
static int on_progress(void *context, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    const struct transfer *transfer = context;

    return elapsed_ms(transfer) > timeout_of(transfer->request) || is_silent(transfer);
}

static int set_up(const struct curl_http *http, struct transfer *transfer, struct error *err) {
    const struct http_request *request = transfer->request;
    bool https = text_starts_with(request->url, "https:");
    CURL *easy = transfer->easy;
    _cleanup_(freep) char *url = NULL, *host = NULL, *line = NULL, *proxy = NULL;

    url = http_curl_url(request, (void **)&transfer->connect_to, &host);
    if (host) {
        line = xasprintf("Host: %s", host);
        transfer->headers = curl_slist_append(transfer->headers, line);
    }
    curl_easy_setopt(easy, CURLOPT_CONNECT_TO, transfer->connect_to);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, http->user_agent);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->why);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "https,http");
    curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, https ? "https" : "https,http");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, request->follow_redirects ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L); /* Send the path unchanged, as Go does. */
    curl_easy_setopt(easy, CURLOPT_MAXREDIRS, (long)REDIRECTS_MAX);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)timeout_of(request));
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(easy, CURLOPT_XFERINFODATA, transfer);
    curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, (long)UPLOAD_BUFFER);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_connected);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    http_curl_trust(easy, request, &transfer->tls);
    transfer->headers = http_curl_ask(easy, request, transfer->headers);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, (char *)transfer);
    if (http_curl_proxy(easy, request, &proxy, err) < 0)
        return -1;
    transfer->tls.by_tls_proxy = proxy && text_starts_with(proxy, "https:");
    if (!transfer->response->proxy)
        transfer->response->proxy = take_ptr(proxy);
    return 0;
}

static void end(struct curl_http *http, struct transfer *transfer, CURLcode code);

static int start(struct curl_http *http, struct transfer *transfer) {
    transfer->begun = true;
    transfer->easy = curl_easy_init();
    if (!transfer->easy)
        return error_set(transfer->err, ERROR_HOST, "request '%s': libcurl cannot start",
                         transfer->request->url);
    if (set_up(http, transfer, transfer->err) < 0)
        return -1;
    if (curl_multi_add_handle(http->multi, transfer->easy) != CURLM_OK)
        return error_set(transfer->err, ERROR_HOST, "request '%s': libcurl cannot start it",
                         transfer->request->url);
    transfer->runs = true;
    return 0;
}

/* Ends all requests that run or have not begun, without an answer. `wanted` says that the user
 * asked to stop. */
static void give_up(struct curl_http *http, struct transfer *transfers, size_t count, bool wanted) {
    for (size_t i = 0; i < count; i++) {
        struct transfer *t = &transfers[i];

        if (t->begun && !t->runs)
            continue;
        t->begun = true;
        (void)(wanted ? error_set(t->err, ERROR_INTERRUPTED,
                                  "interrupted while waiting for the answer")
                      : error_set(t->err, ERROR_NETWORK,
                                  "run the connection: it ended without a result"));
        end(http, t, CURLE_ABORTED_BY_CALLBACK);
    }
}

static size_t count_running(const struct transfer *transfers, size_t count) {
    size_t running = 0;

    for (size_t i = 0; i < count; i++)
        running += transfers[i].runs;
    return running;
}

static void end_done(struct curl_http *http) {
    const CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(http->multi, &left))) {
        struct transfer *transfer = NULL;

        (void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&transfer);
        if (message->msg == CURLMSG_DONE)
            end(http, transfer, message->data.result);
    }
}

/* Starts more requests, up to `max` at the same time. When `at_once` is not 0, it replaces `max`,
 * and requests that have run for HANG_MS do not count. */
static void start_more(struct curl_http *http, struct transfer *transfers, size_t count,
                       size_t at_once, size_t max) {
    size_t running = count_running(transfers, count);

    max = at_once ? at_once : max;
    for (size_t i = 0; i < count && at_once; i++)
        max += transfers[i].runs && elapsed_ms(&transfers[i]) >= HANG_MS;
    max = max < PARALLEL_MAX ? max : PARALLEL_MAX;
    for (size_t i = 0; i < count && running < max; i++) {
        if (transfers[i].begun)
            continue;
        if (start(http, &transfers[i]) == 0)
            running++;
        else
            end(http, &transfers[i], CURLE_FAILED_INIT);
    }
}

/* Returns how long the first running request has run. It serves as a clock until a request ends. */
static uint64_t first_ms(const struct transfer *transfers, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (transfers[i].runs)
            return elapsed_ms(&transfers[i]);
    return 0;
}

static void drive(struct curl_http *http, struct transfer *transfers, size_t count,
                  size_t at_once) {
    size_t max = PARALLEL_FIRST;
    uint64_t ended_ms = 0;

    for (;;) {
        int running = 0;
        size_t before;
        bool broken;

        start_more(http, transfers, count, at_once, max);
        before = count_running(transfers, count);
        if (!before)
            return;
        broken = curl_multi_perform(http->multi, &running) != CURLM_OK;
        end_done(http);
        if (broken || (!running && count_running(transfers, count))) {
            give_up(http, transfers, count, false);
            return;
        }
        if (http->interrupted && http->interrupted(http->context)) {
            give_up(http, transfers, count, true);
            return;
        }
        for (size_t i = 0; i < count; i++) {
            struct transfer *t = &transfers[i];
            const struct http_request *request = t->request;
            uint64_t now = t->runs ? elapsed_ms(t) : 0;

            /* Call on_data once a second without data, because the caller may want to stop. */
            if (t->runs && request->on_data && now - t->last_tick_ms >= TICK_MS) {
                t->last_tick_ms = now;
                t->stopped = request->on_data(request->on_data_context, NULL, 0) != 0;
            }
            if (t->runs && t->stopped)
                end(http, t, CURLE_OK);
        }
        /* A request ended, so others can start at once. */
        if (count_running(transfers, count) != before) {
            ended_ms = first_ms(transfers, count);
            continue;
        }
        (void)curl_multi_poll(http->multi, NULL, 0,
                              at_once || max < PARALLEL_MAX ? STALL_MS : POLL_MS, NULL);
        if (max < PARALLEL_MAX && first_ms(transfers, count) >= ended_ms + STALL_MS) {
            max *= 2;
            ended_ms += STALL_MS;
        }
    }
}

static void transfer_clear(struct transfer *transfer) {
    curl_easy_cleanup(transfer->easy);
    curl_slist_free_all(transfer->headers);
    curl_slist_free_all(transfer->connect_to);
    free(transfer->tls.name);
    text_free(&transfer->body);
}

/* Fetches the certificate chain that the server presented, as evidence. libcurl does not keep a
 * chain that failed verification, so this opens a second connection without verification and sends
 * no request. */
static void fetch_evidence(struct curl_http *http, const struct http_request *failed,
                           struct http_response *response) {
    struct http_request request = *failed;
    struct transfer transfer = {.request = &request, .response = response, .only_connects = true};

    request.verify = HTTP_VERIFY_NONE;
    request.bearer_token = request.client_cert_pem = request.client_key_pem = NULL;
    request.on_data = NULL;
    request.timeout_ms = EVIDENCE_MS;
    if (start(http, &transfer) == 0) {
        curl_easy_setopt(transfer.easy, CURLOPT_FRESH_CONNECT, 1L);
        /* When the second connection fails too, the message only has fewer details. */
        drive(http, &transfer, 1, 0);
    }
    transfer_clear(&transfer);
}

static int say_failure(struct transfer *transfer, CURLcode code, struct error *err) {
    const struct http_request *request = transfer->request;
    const char *method = request->method ? request->method : "GET", *reason = NULL;
    _cleanup_(freep) char *url = http_shown_url(request->url);

    if (transfer->too_long)
        return error_set(err, ERROR_MALFORMED, "%s '%s': the answer is longer than %zu bytes",
                         method, url,
                         transfer->header_bytes > HEADERS_MAX ? (size_t)HEADERS_MAX
                         : request->max_body                  ? request->max_body
                                                              : (size_t)HTTP_BODY_MAX);
    /* A header line exceeds libcurl's own limit. */
    if (code == CURLE_OUT_OF_MEMORY || (int)code == TOO_LARGE)
        return error_set(err, ERROR_MALFORMED, "%s '%s': a header line of the answer is too long",
                         method, url);
    if (code == CURLE_OPERATION_TIMEDOUT || code == CURLE_ABORTED_BY_CALLBACK)
        return is_silent(transfer)
                   ? error_set(err, ERROR_TIMED_OUT, "%s '%s': nothing came for %u ms", method, url,
                               request->silent_ms)
                   : error_set(err, ERROR_TIMED_OUT, "%s '%s': no complete answer within %u ms",
                               method, url, timeout_of(request));
    if (code == CURLE_COULDNT_CONNECT)
        reason = http_curl_connect_reason(transfer->easy);
    if (!reason)
        reason = transfer->why[0] ? transfer->why : curl_easy_strerror(code);
    /* The bad URL came from a redirect, not from the caller. */
    if (code == CURLE_URL_MALFORMAT && transfer->has_head)
        return error_set(err, ERROR_MALFORMED, "%s '%s': %s", method, url, reason);
    /* OpenSSL's message lacks the expected name, so add it here. */
    if (transfer->tls.name && strstr(reason, "mismatch"))
        return error_set(err, http_curl_kind(code), "%s '%s': %s: %s", method, url, reason,
                         transfer->tls.name);
    (void)error_set(err, http_curl_kind(code), "%s '%s': %s", method, url, reason);
    /* No hint for a server on the internet, which the system's roots vouch for. */
    return code != CURLE_COULDNT_RESOLVE_HOST ||
                   (!request->ca_pem && request->verify == HTTP_VERIFY_FULL)
               ? -1
               : error_hint(err, "enter that name in the DNS that this machine asks, or as a line "
                                 "\"ADDRESS NAME\" in its own hosts file "
                                 "(C:\\Windows\\System32\\drivers\\etc\\hosts)");
}

static int finish(struct transfer *transfer, CURLcode code, struct error *err) {
    struct http_response *response = transfer->response;
    _cleanup_(freep) char *url = http_shown_url(transfer->request->url);
    curl_off_t connected = 0, ready = 0, began = 0;

    (void)curl_easy_getinfo(transfer->easy, CURLINFO_CONNECT_TIME_T, &connected);
    (void)curl_easy_getinfo(transfer->easy, CURLINFO_PRETRANSFER_TIME_T, &ready);
    (void)curl_easy_getinfo(transfer->easy, CURLINFO_STARTTRANSFER_TIME_T, &began);
    response->milliseconds = (unsigned)elapsed_ms(transfer);
    response->wait_us = began > ready ? (unsigned)(began - ready) : 0;
    if (code != CURLE_OK && !transfer->stopped) {
        (void)say_failure(transfer, code, err);
        /* A reused connection has a connect time of 0, but it existed before anything was sent.
         * libcurl counts the TLS handshake as part of connecting. */
        if (err && (connected || ready || transfer->tls.begun))
            err->os = HTTP_CONNECTED;
        return -1;
    }
    if (!transfer->has_head || http_curl_has_two_lengths(transfer->easy)) {
        (void)error_set(err, transfer->has_head ? ERROR_MALFORMED : ERROR_NETWORK,
                        "read the answer of '%s': %s", url,
                        transfer->has_head ? "it has two lengths" : "it ended within its headers");
        if (err)
            err->os = HTTP_CONNECTED;
        return -1;
    }
    http_curl_head(transfer->easy, transfer->response);
    if (!transfer->request->on_data) {
        response->body_len = transfer->body.len;
        response->body = text_take(&transfer->body);
    }
    return 0;
}

/* Ends a transfer that was started or could not be started. Every transfer ends here. */
static void end(struct curl_http *http, struct transfer *transfer, CURLcode code) {
    /* Removing the handle cannot fail, because it is in the multi handle. */
    if (transfer->runs)
        (void)curl_multi_remove_handle(http->multi, transfer->easy);
    transfer->runs = false;
    if (!transfer->exchange)
        return;
    if (transfer->err->kind == ERROR_NONE)
        (void)finish(transfer, code, transfer->err);
    transfer_clear(transfer);
    if (code == CURLE_PEER_FAILED_VERIFICATION && !transfer->response->server_certs)
        fetch_evidence(http, transfer->request, transfer->response);
    http_exchange_end(transfer->exchange);
}

static void perform(struct http *base, struct http_exchange *exchanges, size_t count,
                    size_t at_once) {
    struct curl_http *http = (struct curl_http *)base;
    struct transfer *transfers = xcalloc(count, sizeof *transfers);

    for (size_t i = 0; i < count; i++) {
        struct http_exchange *x = &exchanges[i];

        transfers[i] = (struct transfer){.exchange = x,
                                         .request = &x->request,
                                         .response = &x->response,
                                         .err = x->err,
                                         .begun = x->err->kind != ERROR_NONE};
    }
    drive(http, transfers, count, at_once);
    free(transfers);
}

static void curl_free_http(struct http *base) {
    struct curl_http *http = (struct curl_http *)base;

    /* curl_multi_cleanup() cannot fail, because no easy handle is left in the multi handle. */
    (void)curl_multi_cleanup(http->multi);
    curl_global_cleanup();
    free(http->user_agent);
    free(http);
}

static const struct http_ops curl_ops = {perform, http_curl_talk, curl_free_http};

struct http *http_curl_new(const char *user_agent, bool (*interrupted)(void *), void *context) {
    struct curl_http *http = xcalloc(1, sizeof *http);

    /* Skip OpenSSL's cleanup at exit: the operating system frees the memory anyway. */
    if (!OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL) ||
        curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        abort(); /* libcurl and OpenSSL fail to start only when memory is exhausted. */
    http->multi = curl_multi_init();
    if (!http->multi)
        abort(); /* curl_multi_init() fails only when memory is exhausted. */
    curl_multi_setopt(http->multi, CURLMOPT_MAXCONNECTS, (long)PARALLEL_MAX);
    http->http.ops = &curl_ops;
    http->user_agent = xstrdup(user_agent);
    http->interrupted = interrupted;
    http->context = context;
    return &http->http;
}
