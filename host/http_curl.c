/* HTTP on libcurl (its TLS in http_curl_tls.c). One multi handle keeps the connections; each
 * request is one easy handle driven here, so that a wait can be interrupted. */
#include <curl/curl.h> /* first: it may bring <windows.h> along (base/error.h) */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "host/http_curl.h"
#include "host/http_ops.h"

enum {
    TIMEOUT_MS = 10000,
    POLL_MS = 250,
    TICK_MS = 1000,
    EVIDENCE_MS = 3000,
    HEADERS_MAX = 256 * 1024,
    RETRY_MAX_S = 86400,
    REDIRECTS_MAX = 5,
    TOO_LARGE = 100, /* CURLE_TOO_LARGE, since 8.6 */
};

struct curl_http {
    struct http http;
    CURLM *multi;
    char *user_agent;
    bool (*interrupted)(void *);
    void *context;
};

/* One request under way. */
struct transfer {
    const struct http_request *request;
    struct http_response *response;
    CURL *easy;
    struct curl_slist *headers;
    struct curl_slist *connect_to;
    struct http_curl_tls tls;
    struct text body;
    size_t streamed;
    size_t header_bytes;
    bool has_head;      /* to its empty line */
    bool only_connects; /* no request follows */
    bool stopped;       /* on_data wants no more */
    bool too_long;      /* body or headers */
    uint64_t last_data_ms;
    char why[CURL_ERROR_SIZE];
};

static uint64_t elapsed_ms(const struct transfer *transfer) {
    curl_off_t us = 0;

    (void)curl_easy_getinfo(transfer->easy, CURLINFO_TOTAL_TIME_T, &us); /* 0 before the start */
    return (uint64_t)us / 1000;
}

/* The connection is made, this request is not sent yet. */
static int on_connected(void *context, char *from, char *to, int from_port, int to_port) {
    struct transfer *transfer = context;

    (void)from, (void)to, (void)from_port, (void)to_port; /* of no interest */
    free(transfer->response->server_certs);               /* of the server that redirected here */
    transfer->response->server_certs = http_curl_chain(transfer->easy);
    return transfer->only_connects ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

static size_t on_body(char *data, size_t size, size_t count, void *context) {
    struct transfer *transfer = context;
    const struct http_request *request = transfer->request;
    size_t max = request->max_body ? request->max_body : HTTP_BODY_MAX;
    size_t len = size * count;

    if (request->on_data) {
        transfer->streamed += len;
        transfer->last_data_ms = elapsed_ms(transfer);
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

/* libcurl reads the lines. It sets no limit to all heads and trailers of an answer, and takes an
 * end within a head for a whole one. */
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

/* URL with `server_name` for its host, so that libcurl sends and verifies that name; CONNECT_TO
 * leads to the real host, and the Host header stays the real one. */
static char *rename_host(struct transfer *transfer) {
    const char *url = transfer->request->url;
    const char *name = transfer->request->server_name;
    const char *authority = strstr(url, "://") + 3;
    struct http_authority parts = http_authority_split(authority);
    _cleanup_(freep) char *real = xstrndup(authority, (size_t)(parts.end - authority));
    _cleanup_(freep) char *to = xasprintf("::%s%s", real, parts.port ? "" : ":");
    _cleanup_(freep) char *host = xasprintf("Host: %s", real);

    transfer->connect_to = curl_slist_append(NULL, to);
    transfer->headers = curl_slist_append(transfer->headers, host);
    curl_easy_setopt(transfer->easy, CURLOPT_CONNECT_TO, transfer->connect_to);
    return xasprintf(strchr(name, ':') ? "%.*s[%s]%s" : "%.*s%s%s", (int)(authority - url), url,
                     name, parts.port ? parts.port : parts.end);
}

static int set_proxy(struct transfer *transfer, struct error *err) {
    const struct http_request *request = transfer->request;
    _cleanup_(freep) char *shown = NULL;

    if (http_curl_proxy(transfer->easy, request, &shown, err) < 0)
        return -1;
    transfer->tls.by_tls_proxy = shown && text_starts_with(shown, "https:");
    if (!transfer->response->proxy)
        transfer->response->proxy = take_ptr(shown);
    return 0;
}

static void set_method(struct transfer *transfer) {
    const struct http_request *request = transfer->request;
    const char *method = request->method ? request->method : "GET";
    CURL *easy = transfer->easy;

    if (request->body || strcmp(method, "POST") == 0) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_len);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request->body ? request->body : "");
    }
    if (strcmp(method, "HEAD") == 0)
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    else if (strcmp(method, "GET") != 0 || request->body)
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method);
}

static void set_headers(struct transfer *transfer) {
    const struct http_request *request = transfer->request;
    struct curl_slist *headers = transfer->headers;
    _cleanup_(freep) char *type = xasprintf(
        "Content-Type: %s", request->content_type ? request->content_type : "application/json");

    headers = curl_slist_append(headers, "Accept: application/json, */*");
    headers = curl_slist_append(headers, "Expect:");
    if (request->body)
        headers = curl_slist_append(headers, type);
    transfer->headers = headers;
    curl_easy_setopt(transfer->easy, CURLOPT_HTTPHEADER, headers);
    if (request->bearer_token) { /* this way, not as a header: libcurl keeps it to this host */
        curl_easy_setopt(transfer->easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
        curl_easy_setopt(transfer->easy, CURLOPT_XOAUTH2_BEARER, request->bearer_token);
    }
}

static unsigned timeout_of(const struct http_request *request) {
    return request->timeout_ms ? request->timeout_ms : TIMEOUT_MS;
}

/* libcurl does not look at its own time limit while a proxy's refusal has no end. */
static int on_progress(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d) {
    const struct transfer *transfer = context;

    (void)a, (void)b, (void)c, (void)d; /* bytes: on_body counts them */
    return elapsed_ms(transfer) > timeout_of(transfer->request);
}

static int set_up(const struct curl_http *http, struct transfer *transfer, struct error *err) {
    const struct http_request *request = transfer->request;
    bool https = text_starts_with(request->url, "https:");
    CURL *easy = transfer->easy;
    _cleanup_(freep) char *url = NULL;

    url = request->server_name ? rename_host(transfer) : xstrdup(request->url);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, http->user_agent);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->why);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "https,http");
    curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, https ? "https" : "https,http");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, request->follow_redirects ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L); /* as Go: what was given is asked */
    curl_easy_setopt(easy, CURLOPT_MAXREDIRS, (long)REDIRECTS_MAX);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)timeout_of(request));
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(easy, CURLOPT_XFERINFODATA, transfer);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_connected);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    http_curl_trust(easy, request, &transfer->tls);
    set_method(transfer);
    set_headers(transfer);
    return set_proxy(transfer, err);
}

/* Once a second without data: the caller may have had enough. */
static void tick(struct transfer *transfer) {
    const struct http_request *request = transfer->request;
    uint64_t now = elapsed_ms(transfer);

    if (!request->on_data || now - transfer->last_data_ms < TICK_MS)
        return;
    transfer->last_data_ms = now;
    transfer->stopped = request->on_data(request->on_data_context, NULL, 0) != 0;
}

/* Drives the transfer to its end. *ret_code is libcurl's result. */
static int drive(struct curl_http *http, struct transfer *transfer, CURLcode *ret_code,
                 struct error *err) {
    int running = 1;

    while (running) {
        const CURLMsg *message;
        int left;

        if (curl_multi_perform(http->multi, &running) != CURLM_OK)
            return error_set(err, ERROR_NETWORK, "run the connection: libcurl refused");
        message = curl_multi_info_read(http->multi, &left);
        if (message && message->msg == CURLMSG_DONE) {
            *ret_code = message->data.result;
            return 0;
        }
        if (http->interrupted && http->interrupted(http->context))
            return error_set(err, ERROR_INTERRUPTED, "wait for '%s': interrupted",
                             transfer->request->url);
        tick(transfer);
        if (transfer->stopped) {
            *ret_code = CURLE_OK;
            return 0;
        }
        (void)curl_multi_poll(http->multi, NULL, 0, POLL_MS, NULL); /* a spurious end is harmless */
    }
    return error_set(err, ERROR_NETWORK, "run the connection: it ended without a result");
}

static int run(struct curl_http *http, struct transfer *transfer, CURLcode *ret_code,
               struct error *err) {
    int result;

    if (curl_multi_add_handle(http->multi, transfer->easy) != CURLM_OK)
        return error_set(err, ERROR_HOST, "request '%s': libcurl cannot start it",
                         transfer->request->url);
    result = drive(http, transfer, ret_code, err);
    (void)curl_multi_remove_handle(http->multi, transfer->easy); /* it is in there */
    return result;
}

static void transfer_clear(struct transfer *transfer) {
    curl_easy_cleanup(transfer->easy);
    curl_slist_free_all(transfer->headers);
    curl_slist_free_all(transfer->connect_to);
    free(transfer->tls.name);
    text_free(&transfer->body);
}

/* libcurl keeps no chain that it did not trust: a second handshake without verification, and
 * without a request, fetches it as evidence. */
static void fetch_evidence(struct curl_http *http, const struct http_request *failed,
                           struct http_response *response) {
    struct http_request request = *failed;
    struct transfer transfer = {.request = &request, .response = response, .only_connects = true};
    CURLcode code;
    int result;

    request.verify = HTTP_VERIFY_NONE;
    request.bearer_token = request.client_cert_pem = request.client_key_pem = NULL;
    request.on_data = NULL;
    request.timeout_ms = EVIDENCE_MS;
    transfer.easy = curl_easy_init();
    if (!transfer.easy)
        return;
    result = set_up(http, &transfer, NULL);
    curl_easy_setopt(transfer.easy, CURLOPT_FRESH_CONNECT, 1L);
    if (result == 0)
        (void)run(http, &transfer, &code, NULL); /* without evidence there is less to tell */
    transfer_clear(&transfer);
}

/* libcurl's results as kinds; all others are ERROR_NETWORK. */
static enum error_kind kind_of(CURLcode code) {
    switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
        return ERROR_UNTRUSTED;
    case CURLE_OPERATION_TIMEDOUT:
        return ERROR_TIMED_OUT;
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_UNSUPPORTED_PROTOCOL: /* what came was no HTTP/1 */
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_TOO_MANY_REDIRECTS:
        return ERROR_MALFORMED;
    case CURLE_URL_MALFORMAT:
        return ERROR_USAGE;
    default:
        return ERROR_NETWORK;
    }
}

/* The reason of a failed connection in the words that everybody searches for. */
static const char *connect_reason(const struct transfer *transfer) {
    static const struct {
        long os; /* errno, or Winsock's number */
        const char *text;
    } reasons[] = {
        {ECONNREFUSED, "connection refused"},     {10061, "connection refused"},
        {EHOSTUNREACH, "no route to host"},       {10065, "no route to host"},
        {ENETUNREACH, "network is unreachable"},  {10051, "network is unreachable"},
        {ECONNRESET, "connection reset by peer"}, {10054, "connection reset by peer"},
    };
    long os = 0;

    (void)curl_easy_getinfo(transfer->easy, CURLINFO_OS_ERRNO, &os); /* 0: not known */
    for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
        if (os == reasons[i].os)
            return reasons[i].text;
    return NULL;
}

static int failed(struct transfer *transfer, CURLcode code, struct error *err) {
    const struct http_request *request = transfer->request;
    const char *method = request->method ? request->method : "GET";
    _cleanup_(freep) char *url = http_shown_url(request->url);
    const char *reason = code == CURLE_COULDNT_CONNECT ? connect_reason(transfer) : NULL;

    if (transfer->too_long)
        return error_set(err, ERROR_MALFORMED, "%s '%s': the answer is longer than %zu bytes",
                         method, url,
                         transfer->header_bytes > HEADERS_MAX ? (size_t)HEADERS_MAX
                         : request->max_body                  ? request->max_body
                                                              : (size_t)HTTP_BODY_MAX);
    if (code == CURLE_OUT_OF_MEMORY || (int)code == TOO_LARGE) /* beyond libcurl's own limit */
        return error_set(err, ERROR_MALFORMED, "%s '%s': a header line of the answer is too long",
                         method, url);
    if (code == CURLE_OPERATION_TIMEDOUT || code == CURLE_ABORTED_BY_CALLBACK)
        return error_set(err, ERROR_TIMED_OUT, "%s '%s': no complete answer within %u ms", method,
                         url, timeout_of(request));
    if (!reason)
        reason = transfer->why[0] ? transfer->why : curl_easy_strerror(code);
    if (code == CURLE_URL_MALFORMAT && transfer->has_head) /* of a redirect: not the caller's */
        return error_set(err, ERROR_MALFORMED, "%s '%s': %s", method, url, reason);
    if (transfer->tls.name && strstr(reason, "mismatch")) /* OpenSSL does not say with what */
        return error_set(err, kind_of(code), "%s '%s': %s: %s", method, url, reason,
                         transfer->tls.name);
    return error_set(err, kind_of(code), "%s '%s': %s", method, url, reason);
}

/* libcurl takes the last of them; another reader on the way takes the first, and cuts there. */
static bool has_two_lengths(CURL *easy) {
    struct curl_header *header;
    const char *first = NULL;

    for (size_t i = 0; curl_easy_header(easy, "Content-Length", i, CURLH_HEADER, -1, &header) == 0;
         i++) {
        if (first && !text_equal(first, header->value))
            return true;
        first = header->value;
    }
    return false;
}

static void read_head(struct transfer *transfer) {
    struct http_response *response = transfer->response;
    struct curl_header *date;
    const char *type = NULL;
    curl_off_t after = 0;
    time_t at = -1;

    (void)curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &response->status);
    (void)curl_easy_getinfo(transfer->easy, CURLINFO_CONTENT_TYPE, &type);
    (void)curl_easy_getinfo(transfer->easy, CURLINFO_RETRY_AFTER, &after);
    if (curl_easy_header(transfer->easy, "Date", 0, CURLH_HEADER, -1, &date) == CURLHE_OK)
        at = curl_getdate(date->value, NULL);
    response->content_type = xstrdup_null(type);
    response->retry_after = after > 0 && after <= RETRY_MAX_S ? (long)after : -1;
    response->date = at > 0 ? at : 0;
}

static int finish(struct transfer *transfer, CURLcode code, struct error *err) {
    struct http_response *response = transfer->response;
    _cleanup_(freep) char *url = http_shown_url(transfer->request->url);

    response->milliseconds = (unsigned)elapsed_ms(transfer);
    if (code != CURLE_OK && !transfer->stopped) {
        (void)failed(transfer, code, err);
        return -1;
    }
    if (!transfer->has_head || has_two_lengths(transfer->easy))
        return error_set(err, transfer->has_head ? ERROR_MALFORMED : ERROR_NETWORK,
                         "read the answer of '%s': %s", url,
                         transfer->has_head ? "it has two lengths" : "it ended within its headers");
    read_head(transfer);
    if (!transfer->request->on_data) {
        response->body_len = transfer->body.len;
        response->body = text_take(&transfer->body);
    }
    return 0;
}

static int perform(struct http *base, const struct http_request *request, struct http_response *ret,
                   struct error *err) {
    struct curl_http *http = (struct curl_http *)base;
    struct transfer transfer = {.request = request, .response = ret};
    CURLcode code = CURLE_OK;
    int result;

    transfer.easy = curl_easy_init();
    if (!transfer.easy)
        return error_set(err, ERROR_HOST, "request '%s': libcurl cannot start", request->url);
    result = set_up(http, &transfer, err);
    if (result == 0)
        result = run(http, &transfer, &code, err);
    if (result == 0)
        result = finish(&transfer, code, err);
    transfer_clear(&transfer);
    if (code == CURLE_PEER_FAILED_VERIFICATION && !ret->server_certs)
        fetch_evidence(http, request, ret);
    return result;
}

static void curl_free_http(struct http *base) {
    struct curl_http *http = (struct curl_http *)base;

    (void)curl_multi_cleanup(http->multi); /* no handle is left in it */
    curl_global_cleanup();
    free(http->user_agent);
    free(http);
}

static const struct http_ops curl_ops = {perform, curl_free_http};

struct http *http_curl_new(const char *user_agent, bool (*interrupted)(void *), void *context) {
    struct curl_http *http = xcalloc(1, sizeof *http);

    http_curl_start();
    http->multi = curl_multi_init();
    if (!http->multi)
        abort(); /* only memory can be missing */
    curl_multi_setopt(http->multi, CURLMOPT_MAXCONNECTS, 16L);
    http->http.ops = &curl_ops;
    http->user_agent = xstrdup(user_agent);
    http->interrupted = interrupted;
    http->context = context;
    return &http->http;
}
