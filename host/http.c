/* Implements http.h for all HTTP implementations: checks requests, writes logs, chooses proxies. */
#include "host/http.h"

#include <ctype.h>

#include "base/cidr.h"
#include "base/log.h"
#include "host/host_ops.h"

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

/* Refuses control characters in methods and header values: they could insert a second header. */
static int check_line(const char *what, const char *value, struct error *err) {
    for (; value && *value; value++)
        if ((unsigned char)*value <= 0x20 && *value != ' ')
            return error_set(err, ERROR_USAGE,
                             "send a request: its %s contains a control character", what);
    return 0;
}

static int check_request(const struct http_request *request, struct error *err) {
    bool https = request->url && strncmp(request->url, "https://", 8) == 0;
    const char *name = request->server_name;
    struct ip ip;

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
    if (check_line("URL", request->url, err) < 0 || check_line("method", request->method, err) < 0)
        return -1;
    /* The server name becomes part of a URL and the name for SNI. */
    for (const char *p = name && ip_parse(name, &ip, NULL) < 0 ? name : ""; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("-._", *p))
            return error_set(err, ERROR_USAGE, "send a request: '%s' is not a valid server name",
                             name);
    return check_line("content type", request->content_type, err) < 0
               ? -1
               : check_line("token", request->bearer_token, err);
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

void http_exchange_end(struct http_exchange *exchange) {
    bool failed = exchange->err->kind != ERROR_NONE;

    log_request(&exchange->request, failed ? NULL : &exchange->response, exchange->err);
    if (failed) {
        struct http_response kept = {.retry_after = -1, .length = -1, .range_begin = -1};

        /* Only the certificates and the proxy may remain in the response after a failure. */
        kept.server_certs = take_ptr(exchange->response.server_certs);
        kept.proxy = take_ptr(exchange->response.proxy);
        http_response_free(&exchange->response);
        exchange->response = kept;
    }
    if (exchange->ended)
        exchange->ended(exchange->request.on_data_context, exchange);
}

void http_perform_all(struct http *http, struct http_exchange *exchanges, size_t count,
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

    http_perform_all(http, &exchange, 1, 0);
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

/* ---- proxies ---- */

/* Chooses the proxy for a URL: from the variables that the other programs on the node read, and on
 * Windows also from the machine's settings (netsh winhttp set proxy; WINHTTP_PROXY_INFO).
 *
 * libcurl cannot do this: it does not report which proxy it chose, which messages and preflight
 * need. It supports neither "*.corp" and "host:port" as Go's programs do, nor "<local>" and "10.*"
 * of WinHTTP. And it uses a proxy for loopback. */

#define SEPARATORS ",; \t\r\n"

struct target {
    const char *authority; /* Host and port in lower case: "10.0.0.10:6443". */
    const char *host;      /* Host without the port; an IPv6 address has brackets. */
    struct ip ip;          /* The host's IP address; family 0 when the host is a name. */
};

/* Does the text match the pattern? "*" matches any characters, also none. */
static bool matches(const char *pattern, const char *text) {
    const char *star = NULL, *again = NULL;

    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            again = text;
        } else if (*pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++again;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

/* Is the text the domain itself or a name inside it? */
static bool is_within(const char *text, const char *domain) {
    const char *end = text + strlen(text) - strlen(domain);

    return text_ends_with(text, domain) && (end == text || end[-1] == '.');
}

static bool is_excluded_by(const struct target *target, const char *item) {
    const char *domain = item + (*item == '.');
    struct cidr range;
    struct ip ip;

    if (text_equal(item, "<local>"))
        return !strpbrk(target->host, ".:");
    if (ip_parse(item, &ip, NULL) == 0)
        return ip_equal(&ip, &target->ip);
    if (cidr_parse(item, &range, NULL) == 0)
        return cidr_contains(&range, &target->ip);
    if (matches(item, target->host) || matches(item, target->authority))
        return true;
    return !target->ip.family &&
           (is_within(target->host, domain) || is_within(target->authority, domain));
}

/* Returns the next item of a list and advances *at; NULL at the end of the list. free() it. */
static char *next_item(const char **at) {
    const char *begin = *at + strspn(*at, SEPARATORS);
    size_t len = strcspn(begin, SEPARATORS);

    *at = begin + len;
    return len ? xstrndup(begin, len) : NULL;
}

char *http_proxy_for(const char *url, const char *proxy, const char *excluded) {
    const char *start = strstr(url, "://"), *at;
    struct http_authority parts = http_authority_split(start ? start + 3 : url);
    _cleanup_(freep) char *given = xstrndup(parts.host, (size_t)(parts.end - parts.host));
    _cleanup_(freep) char *authority = text_lower(given),
                          *list = text_lower(excluded ? excluded : "");
    _cleanup_(freep) char *host =
        xstrndup(authority, (size_t)((parts.port ? parts.port : parts.end) - parts.host));
    _cleanup_(freep) char *bare =
        *host == '[' ? xstrndup(host + 1, strcspn(host + 1, "]")) : xstrdup(host);
    struct target target = {.authority = authority, .host = host};
    bool direct;
    char *item;

    if (!proxy || !*proxy)
        return NULL;
    if (ip_parse(bare, &target.ip, NULL) < 0)
        target.ip.family = 0;
    direct =
        text_equal(target.host, "localhost") || (target.ip.family && ip_is_loopback(&target.ip));
    at = list;
    while (!direct && (item = next_item(&at)) != NULL) {
        direct = is_excluded_by(&target, item);
        free(item);
    }
    return direct ? NULL : xstrdup(proxy);
}

char *http_machine_proxy_for(const char *url, const char *proxies, const char *excluded) {
    const char *scheme = text_starts_with(url, "https:") ? "https=" : "http=";
    _cleanup_(freep) char *general = NULL, *special = NULL;
    const char *at = proxies;
    char *item;

    while ((item = next_item(&at)) != NULL) {
        if (!special && text_starts_with(item, scheme) && item[strlen(scheme)])
            special = xstrdup(item + strlen(scheme));
        else if (!general && !strchr(item, '='))
            general = xstrdup(item);
        free(item);
    }
    return http_proxy_for(url, special ? special : general, excluded);
}

static const char *either(const char *upper, const char *lower) {
    const char *value = getenv(upper);

    if (!value || !*value)
        value = getenv(lower);
    return value && *value ? value : NULL;
}

char *http_environment_proxy(const char *url) {
    const char *proxy = text_starts_with(url, "https:") ? either("HTTPS_PROXY", "https_proxy")
                                                        : either("HTTP_PROXY", "http_proxy");
    const char *excluded = either("NO_PROXY", "no_proxy");
    _cleanup_(freep) char *machine = NULL, *bypass = NULL, *both = NULL;

    if (proxy || !http_system_proxy(&machine, &bypass))
        return http_proxy_for(url, proxy, excluded);
    both = xasprintf("%s;%s", bypass ? bypass : "", excluded ? excluded : "");
    return http_machine_proxy_for(url, machine, both);
}

char *http_shown_proxy(const char *proxy) {
    const char *start = strstr(proxy, "://");
    const char *rest = start ? start + 3 : proxy;
    /* The last "@" counts, because a password may contain others. */
    const char *at = strrchr(rest, '@');

    return xasprintf("%.*s%s", (int)(rest - proxy), proxy, at ? at + 1 : rest);
}
