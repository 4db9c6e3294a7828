/* Sends requests with libcurl, and runs conversations of raw bytes on connections that libcurl
 * opens with its TLS and proxy support. */
#include <curl/curl.h>

#include "host/curl/http_curl.h"

void *http_curl_ask(void *easy, const struct http_request *request, void *headers) {
    _cleanup_(freep) char *type = xasprintf(
        "Content-Type: %s", request->content_type ? request->content_type : "application/json");
    _cleanup_(freep) char *accept =
        xasprintf("Accept: %s", request->accept ? request->accept : "application/json, */*");
    const char *method = request->method ? request->method : "GET";
    char range[32];

    if (request->body || strcmp(method, "POST") == 0) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_len);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request->body ? request->body : "");
    }
    if (strcmp(method, "HEAD") == 0)
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    else if (strcmp(method, "GET") != 0 || request->body)
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method);
    headers = curl_slist_append(headers, accept);
    headers = curl_slist_append(headers, "Expect:");
    if (request->body)
        headers = curl_slist_append(headers, type);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    if (request->gzip)
        curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip");
    /* Use this option and not a header, because libcurl then sends the token to this host only. */
    if (request->bearer_token) {
        curl_easy_setopt(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
        curl_easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, request->bearer_token);
    }
    if (request->range_begin &&
        text_format(range, sizeof range, "%llu-", (unsigned long long)request->range_begin) == 0)
        curl_easy_setopt(easy, CURLOPT_RANGE, range);
    return headers;
}

enum { PIECE = 16 * 1024, POLL_MS = 250 };

struct conversation {
    const struct http_talk *talk;
    CURL *easy;
    const struct curl_http *http;
    struct http_curl_tls tls;
    struct curl_slist *connect_to;
    struct text say;
    size_t said;
    bool open;
    char why[CURL_ERROR_SIZE];
};

static bool is_interrupted(const struct conversation *c) {
    return c->http->interrupted && c->http->interrupted(c->http->context);
}

static int on_progress(void *context, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return is_interrupted(context);
}

static int failed(const struct conversation *c, CURLcode code, struct error *err) {
    _cleanup_(freep) char *url = http_shown_url(c->talk->request.url);

    if (is_interrupted(c))
        return error_set(err, ERROR_INTERRUPTED, "talk to '%s': interrupted", url);
    return error_set(err,
                     code == CURLE_PEER_FAILED_VERIFICATION ? ERROR_UNTRUSTED
                     : code == CURLE_OPERATION_TIMEDOUT     ? ERROR_TIMED_OUT
                                                            : ERROR_NETWORK,
                     "talk to '%s': %s", url, c->why[0] ? c->why : curl_easy_strerror(code));
}

static int connect_to(struct conversation *c, struct error *err) {
    const struct http_request *request = &c->talk->request;
    _cleanup_(freep) char *url = NULL, *host = NULL, *proxy = NULL;
    CURL *easy = c->easy;
    CURLcode code;

    url = http_curl_url(request, (void **)&c->connect_to, &host);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_CONNECT_TO, c->connect_to);
    curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "https,http");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, c->why);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(easy, CURLOPT_XFERINFODATA, c);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS,
                     (long)(request->timeout_ms ? request->timeout_ms : HTTP_TIMEOUT_MS));
    http_curl_trust(easy, request, &c->tls);
    if (http_curl_proxy(easy, request, &proxy, err) < 0)
        return -1;
    c->tls.by_tls_proxy = proxy && text_starts_with(proxy, "https:");
    code = curl_easy_perform(easy);
    return code == CURLE_OK ? 0 : failed(c, code, err);
}

/* Sends the pending bytes, as many as the connection accepts now. */
static int say(struct conversation *c, struct error *err) {
    while (c->said < c->say.len) {
        size_t sent = 0;
        CURLcode code = curl_easy_send(c->easy, c->say.data + c->said, c->say.len - c->said, &sent);

        c->said += sent;
        if (code == CURLE_AGAIN)
            return 0;
        if (code != CURLE_OK)
            return failed(c, code, err);
    }
    text_clear(&c->say);
    c->said = 0;
    return 0;
}

/* Sends the rest of the output and receives at most one piece. It always tries to receive, because
 * the connection may hold bytes that a poll of its socket does not show. Returns true when it
 * received something. */
static bool go_on(struct conversation *c, struct error *err) {
    const struct http_talk *talk = c->talk;
    int heard = is_interrupted(c) ? failed(c, CURLE_ABORTED_BY_CALLBACK, err) : say(c, err);
    char piece[PIECE];
    bool done = false;
    size_t len = 0;

    if (heard == 0) {
        CURLcode code = curl_easy_recv(c->easy, piece, sizeof piece, &len);

        if (code != CURLE_OK && code != CURLE_AGAIN)
            heard = failed(c, code, err);
        else if (code == CURLE_OK && !len)
            heard = error_set(err, ERROR_NETWORK, "talk to '%s': the server hung up",
                              talk->request.url);
        else if (talk->heard(talk->context, len ? piece : NULL, len, &c->say, &done, err) < 0)
            heard = -1;
        else
            heard = len > 0;
    }
    if (heard == 0 || (heard > 0 && done))
        heard = say(c, err); /* This also sends the last output if that is possible at once. */
    c->open = heard >= 0 && !done;
    return heard > 0;
}

static void wait_a_moment(CURLM *multi, const struct conversation *talks, size_t count,
                          struct curl_waitfd *waits) {
    unsigned n = 0;

    for (size_t i = 0; i < count; i++) {
        curl_socket_t socket = CURL_SOCKET_BAD;

        if (!talks[i].open)
            continue;
        (void)curl_easy_getinfo(talks[i].easy, CURLINFO_ACTIVESOCKET, &socket);
        if (socket == CURL_SOCKET_BAD) /* Without a socket there is nothing to poll. The poll then
                                          serves as a pause. */
            continue;
        waits[n] = (struct curl_waitfd){.fd = socket, .events = CURL_WAIT_POLLIN};
        if (talks[i].said < talks[i].say.len)
            waits[n].events |= CURL_WAIT_POLLOUT;
        n++;
    }
    (void)curl_multi_poll(multi, waits, n, POLL_MS, NULL);
}

void http_curl_talk(struct http *base, struct http_talk *talks, size_t count) {
    const struct curl_http *http = (const struct curl_http *)base;
    _cleanup_(freep) struct conversation *all = xcalloc(count + 1, sizeof *all);
    _cleanup_(freep) struct curl_waitfd *waits = xcalloc(count + 1, sizeof *waits);
    size_t open = 0;

    for (size_t i = 0; i < count; i++) {
        struct error *err = talks[i].err;

        all[i] = (struct conversation){.talk = &talks[i], .http = http};
        if (err->kind != ERROR_NONE)
            continue;
        all[i].easy = curl_easy_init();
        all[i].open = all[i].easy ? connect_to(&all[i], err) == 0
                                  : error_set(err, ERROR_HOST, "start libcurl") == 0;
        if (all[i].open)
            text_add_bytes(&all[i].say, talks[i].first, talks[i].first_len);
        open += all[i].open;
    }
    while (open) {
        bool heard = false;

        open = 0;
        for (size_t i = 0; i < count; i++) {
            if (all[i].open)
                heard |= go_on(&all[i], talks[i].err);
            open += all[i].open;
        }
        if (open && !heard)
            wait_a_moment(http->multi, all, count, waits);
    }
    for (size_t i = 0; i < count; i++) {
        curl_easy_cleanup(all[i].easy);
        curl_slist_free_all(all[i].connect_to);
        free(all[i].tls.name);
        secret_free_text(text_take(&all[i].say));
    }
}
