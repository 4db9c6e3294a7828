/* A conversation of bytes on a connection that libcurl makes: its TLS and its proxy, our words. */
#include <curl/curl.h>

#include <stdlib.h>

#include "base/memory.h"
#include "host/http_curl.h"

enum { PIECE = 16 * 1024, POLL_MS = 250, TIMEOUT_MS = 10000 };

struct conversation {
    const struct http_talk *talk;
    CURL *easy;
    CURLM *multi; /* for its poll alone */
    bool (*interrupted)(void *);
    void *interrupted_context;
    struct http_curl_tls tls;
    struct curl_slist *connect_to;
    struct text say;
    size_t said;
    char why[CURL_ERROR_SIZE];
};

static bool is_interrupted(const struct conversation *c) {
    return c->interrupted && c->interrupted(c->interrupted_context);
}

static int on_progress(void *context, curl_off_t a, curl_off_t b, curl_off_t d, curl_off_t e) {
    (void)a, (void)b, (void)d, (void)e;
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
                     (long)(request->timeout_ms ? request->timeout_ms : TIMEOUT_MS));
    http_curl_trust(easy, request, &c->tls);
    if (http_curl_proxy(easy, request, &proxy, err) < 0)
        return -1;
    c->tls.by_tls_proxy = proxy && text_starts_with(proxy, "https:");
    code = curl_easy_perform(easy);
    return code == CURLE_OK ? 0 : failed(c, code, err);
}

/* What is left to be said, as much as the connection takes. */
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

static void wait_a_moment(const struct conversation *c) {
    struct curl_waitfd wait = {.events = CURL_WAIT_POLLIN};
    curl_socket_t socket = CURL_SOCKET_BAD;

    if (c->said < c->say.len)
        wait.events |= CURL_WAIT_POLLOUT;
    (void)curl_easy_getinfo(c->easy, CURLINFO_ACTIVESOCKET, &socket); /* bad: time passes */
    wait.fd = socket;
    (void)curl_multi_poll(c->multi, &wait, socket == CURL_SOCKET_BAD ? 0 : 1, POLL_MS, NULL);
}

/* One piece, or none: the connection may hold bytes that no poll of its socket shows. */
static int hear(struct conversation *c, bool *ret_done, struct error *err) {
    const struct http_talk *talk = c->talk;
    char piece[PIECE];
    size_t len = 0;
    CURLcode code = curl_easy_recv(c->easy, piece, sizeof piece, &len);

    if (code == CURLE_AGAIN) {
        if (talk->heard(talk->context, NULL, 0, &c->say, ret_done, err) < 0)
            return -1;
        if (*ret_done)
            return 0;
        if (say(c, err) < 0)
            return -1;
        wait_a_moment(c);
        return 0;
    }
    if (code != CURLE_OK)
        return failed(c, code, err);
    if (!len)
        return error_set(err, ERROR_NETWORK, "talk to '%s': the server hung up", talk->request.url);
    return talk->heard(talk->context, piece, len, &c->say, ret_done, err);
}

static int converse(struct conversation *c, struct error *err) {
    bool done = false;

    text_add_bytes(&c->say, c->talk->first, c->talk->first_len);
    while (!done) {
        if (is_interrupted(c))
            return failed(c, CURLE_ABORTED_BY_CALLBACK, err);
        if (say(c, err) < 0 || hear(c, &done, err) < 0)
            return -1;
    }
    return say(c, err); /* the last words, if they can be said at once */
}

int http_curl_talk(void *multi, bool (*interrupted)(void *), void *context,
                   const struct http_talk *talk, struct error *err) {
    struct conversation c = {.talk = talk,
                             .easy = curl_easy_init(),
                             .multi = multi,
                             .interrupted = interrupted,
                             .interrupted_context = context};
    int result = c.easy ? connect_to(&c, err) : error_set(err, ERROR_HOST, "start libcurl");

    if (result == 0)
        result = converse(&c, err);
    curl_easy_cleanup(c.easy);
    curl_slist_free_all(c.connect_to);
    free(c.tls.name);
    secret_free_text(text_take(&c.say));
    return result;
}
