/* The HTTP seam's front: what holds for every implementation. */
#include "host/http.h"

#include <ctype.h>

#include "base/cidr.h"
#include "base/log.h"
#include "host/http_ops.h"

struct http_authority http_authority_split(const char *authority) {
    struct http_authority parts = {.end = authority + strcspn(authority, "/?#"), .host = authority};

    for (const char *p = authority; p < parts.end; p++)
        if (*p == '@')
            parts.login_end = p;
    if (parts.login_end)
        parts.host = parts.login_end + 1;
    for (const char *p = parts.host; p < parts.end; p++)
        if (*p == ']')
            parts.port = NULL;
        else if (*p == ':')
            parts.port = p;
    return parts;
}

char *http_shown_url(const char *url) {
    const char *start = strstr(url, "://");
    const char *rest = start ? start + 3 : url;
    size_t len = strcspn(rest, "?#");
    size_t skip = (size_t)(http_authority_split(rest).host - rest);

    return xasprintf("%.*s%.*s%s", (int)(rest - url), url, (int)(len - skip), rest + skip,
                     rest[len] ? "?..." : "");
}

/* It becomes a part of a URL and a name for SNI. */
static int check_server_name(const char *name, struct error *err) {
    struct ip ip;

    if (name && ip_parse(name, &ip, NULL) == 0)
        return 0;
    for (const char *p = name; p && *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("-._", *p))
            return error_set(err, ERROR_USAGE, "send a request: '%s' is not a valid server name",
                             name);
    return 0;
}

/* Header values and methods that could smuggle a second header are refused here. */
static int check_line(const char *what, const char *value, struct error *err) {
    for (; value && *value; value++)
        if ((unsigned char)*value <= 0x20 && *value != ' ')
            return error_set(err, ERROR_USAGE,
                             "send a request: its %s contains a control character", what);
    return 0;
}

static int check_request(const struct http_request *request, struct error *err) {
    bool https = request->url && strncmp(request->url, "https://", 8) == 0;

    if (!https && (!request->url || strncmp(request->url, "http://", 7) != 0))
        return error_set(err, ERROR_USAGE, "request '%s': not an http or https URL",
                         request->url ? request->url : "");
    if (!https && (request->bearer_token || request->client_key_pem))
        return error_set(err, ERROR_USAGE, "request '%s': credentials are sent over https only",
                         request->url);
    if ((request->client_cert_pem == NULL) != (request->client_key_pem == NULL))
        return error_set(
            err, ERROR_USAGE,
            "request '%s': a client certificate needs its key, and a key its certificate",
            request->url);
    if (check_line("URL", request->url, err) < 0 ||
        check_line("method", request->method, err) < 0 ||
        check_server_name(request->server_name, err) < 0 ||
        check_line("content type", request->content_type, err) < 0)
        return -1;
    return check_line("token", request->bearer_token, err);
}

static void log_request(const struct http_request *request, const struct http_response *answer,
                        const struct error *err) {
    const char *method = request->method ? request->method : "GET";
    _cleanup_(freep) char *url = http_shown_url(request->url);

    if (answer)
        log_message(LOG_REQUEST, "%s %s: %ld, %zu bytes in %u ms", method, url, answer->status,
                    answer->body_len, answer->milliseconds);
    else
        log_message(LOG_REQUEST, "%s", err ? err->message : url);
}

/* What may stay after a failure. */
static void forget_answer(struct http_response *response) {
    struct http_response kept = {.retry_after = -1, .length = -1, .range_begin = -1};

    kept.server_certs = take_ptr(response->server_certs);
    kept.proxy = take_ptr(response->proxy);
    http_response_free(response);
    *response = kept;
}

void http_exchange_end(struct http_exchange *exchange) {
    bool failed = exchange->err->kind != ERROR_NONE;

    log_request(&exchange->request, failed ? NULL : &exchange->response, exchange->err);
    if (failed)
        forget_answer(&exchange->response);
    if (exchange->ended)
        exchange->ended(exchange->request.on_data_context, exchange);
}

void http_perform_all(struct http *http, struct http_exchange *exchanges, size_t count) {
    http_perform_some(http, exchanges, count, 0);
}

void http_perform_some(struct http *http, struct http_exchange *exchanges, size_t count,
                       size_t at_once) {
    for (size_t i = 0; i < count; i++) {
        exchanges[i].response =
            (struct http_response){.retry_after = -1, .length = -1, .range_begin = -1};
        if (check_request(&exchanges[i].request, exchanges[i].err) < 0 && exchanges[i].ended)
            exchanges[i].ended(exchanges[i].request.on_data_context, &exchanges[i]);
    }
    http->ops->perform(http, exchanges, count, at_once);
}

int http_perform(struct http *http, const struct http_request *request, struct http_response *ret,
                 struct error *err) {
    struct error why = {0};
    struct http_exchange exchange = {.request = *request, .err = &why};

    http_perform_all(http, &exchange, 1);
    *ret = exchange.response;
    if (why.kind == ERROR_NONE)
        return 0;
    return error_pass(err, &why);
}

void http_talk_all(struct http *http, struct http_talk *talks, size_t count) {
    struct http_response none = {.retry_after = -1, .length = -1, .range_begin = -1};

    for (size_t i = 0; i < count; i++)
        if (talks[i].err->kind == ERROR_NONE)
            (void)check_request(&talks[i].request, talks[i].err);
    http->ops->talk(http, talks, count);
    for (size_t i = 0; i < count; i++)
        log_request(&talks[i].request, talks[i].err->kind ? NULL : &none, talks[i].err);
}

void http_response_free(struct http_response *response) {
    free_all(response->body, response->content_type, response->challenge, response->server_certs,
             response->proxy);
    *response = (struct http_response){0};
}

const char *http_proxy_source(bool given) {
    return given ? "set by proxy-url of the kubeconfig"
                 : "set by HTTPS_PROXY, NO_PROXY or WinHTTP; check with: netsh winhttp show proxy";
}

int http_hint_proxy(struct error *err, const char *proxy, bool given) {
    return proxy ? error_hint(err, "the request went through the proxy %s (%s)", proxy,
                              http_proxy_source(given))
                 : -1;
}

void http_free(struct http *http) {
    if (http)
        http->ops->free(http);
}
