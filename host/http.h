/* The second seam: HTTP, on libcurl (host/curl/http_curl.c).
 *
 * No redirect is followed and nothing is unpacked unless asked, TLS is 1.2 or newer, HTTP/1.1, and
 * every answer is bounded in time and size. */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

enum http_verify {
    HTTP_VERIFY_FULL, /* chain, dates and name against `ca_pem`, or the system's store when NULL */
    HTTP_VERIFY_NONE, /* nothing; only for the first pass of token discovery */
};
enum { HTTP_BODY_MAX = 8 * 1024 * 1024 };

struct http_response;
/* All text is borrowed for the call. */
struct http_request {
    const char *method; /* "GET" when NULL */
    const char *url;
    enum http_verify verify;
    const char *ca_pem;          /* the only trust when given */
    const char *server_name;     /* name to verify and send by SNI instead of the URL's, or NULL */
    const char *client_cert_pem; /* with client_key_pem */
    const char *client_key_pem;
    const char *bearer_token;
    const char *accept;       /* media types; NULL: JSON, then any */
    const char *content_type; /* of body */
    const char *body;
    size_t body_len;
    unsigned timeout_ms; /* whole request; 0 = 10 s */
    unsigned silent_ms;  /* not 0: it ends when nothing has come for so long */
    size_t max_body;     /* 0 = HTTP_BODY_MAX, or no cap when streamed */
    bool gzip;           /* the answer may come packed; max_body is of what is in it, length not */
    bool follow_redirects;
    const char *proxy; /* NULL: from the environment as Go reads it; "" = none */
    /* Streaming: called with each piece instead of collecting the body; nonzero ends the request
     * (the answer is then a success). Called with len 0 about once a second besides: then alone it
     * may send requests itself. */
    int (*on_data)(void *context, const char *data, size_t len);
    /* With on_data, or NULL: gets status, length and range_begin before the first piece; nonzero
     * ends the request as on_data does. Not called for an answer without a body. */
    int (*on_head)(void *context, const struct http_response *head);
    void *on_data_context;
    uint64_t range_begin; /* only what follows so many bytes is asked for; 0 = everything */
};

/* Zero-initialise; http_response_free(). */
struct http_response {
    long status;
    char *body; /* NUL-terminated; NULL when streamed */
    size_t body_len;
    int64_t length; /* Content-Length; -1 = absent */
    int64_t
        range_begin;    /* of Content-Range: the first byte of this part; -1 = absent, unreadable */
    int64_t date;       /* Date header, Unix seconds; 0 = absent */
    long retry_after;   /* seconds, also of a date, at most a day; -1 = none, or now */
    char *content_type; /* or NULL */
    char *challenge;    /* WWW-Authenticate of the URL itself, all of them with ", " between; NULL:
                           none, or a redirect was followed */
    char *server_certs; /* PEM of the chain that the server presented; NULL on a kept connection */
    char *proxy;        /* the proxy that was used, or NULL */
    unsigned milliseconds;
    unsigned wait_us; /* from the request, ready to be sent, to the answer's first byte */
};
void http_response_free(struct http_response *response);

/* err->os of a request that failed although there was a connection; without one it is 0. */
enum { HTTP_CONNECTED = 1 };

struct http;
/* Sends the request. Any HTTP status is success here. Kinds: ERROR_NETWORK (name, connection, TLS
 * or answer broken off), ERROR_TIMED_OUT, ERROR_UNTRUSTED (chain, dates, name; the message says
 * which, and ret->server_certs is filled where the server showed them), ERROR_MALFORMED (too long,
 * no HTTP), ERROR_INTERRUPTED. On failure ret->server_certs and ret->proxy may be set, nothing
 * else. */
int http_perform(struct http *http, const struct http_request *request, struct http_response *ret,
                 struct error *err);
/* One of several requests that are under way at once. */
struct http_exchange {
    struct http_request request;
    struct http_response response; /* as of http_perform() */
    struct error *err; /* the caller's, cleared before; ERROR_NONE afterwards: it succeeded */
    /* Or NULL: called, with on_data_context, when this one has ended. */
    void (*ended)(void *context, const struct http_exchange *exchange);
};
/* http_perform() of each, whose time begins when it is sent; returns when all have ended. `at_once`
 * are under way at the same time, not counting those that have had no answer for 0.3 s; 0: as many
 * as do best. At most 256. */
void http_perform_all(struct http *http, struct http_exchange *exchanges, size_t count,
                      size_t at_once);
/* A conversation of bytes on a connection of its own, for what begins as HTTP and goes on as
 * something else: says `first`, then hands each piece that is heard to `heard`, which adds to
 * `reply` what is to be said and sets *ret_done when nothing more is awaited (-1 with err ends it,
 * too). Called with len 0 about four times a second while nothing comes. Of the request only the
 * URL, trust, credentials of TLS and proxy count, and timeout_ms for the connection alone: `heard`
 * looks at its own clock. */
struct http_talk {
    struct http_request request;
    const void *first;
    size_t first_len;
    int (*heard)(void *context, const void *data, size_t len, struct text *reply, bool *ret_done,
                 struct error *err);
    void *context;
    struct error *err; /* the caller's, cleared before; ERROR_NONE afterwards: it ended well */
};
/* Several at the same time; returns when all have ended. They connect one after the other. Kinds:
 * ERROR_NETWORK (no connection, or the server hung up), ERROR_TIMED_OUT, ERROR_UNTRUSTED,
 * ERROR_INTERRUPTED, and those of `heard`. */
void http_talk_all(struct http *http, struct http_talk *talks, size_t count);
/* Keeps connections open between requests. `interrupted` (or NULL) is asked about once a second. */
struct http *http_curl_new(const char *user_agent, bool (*interrupted)(void *), void *context);
void http_free(struct http *http);

/* A URL for messages: without user and password, query and fragment, which may be secrets. The
 * caller frees. */
char *http_shown_url(const char *url);

/* Who chose a proxy, for messages: `given` by the request, as a kubeconfig has it, or found. */
const char *http_proxy_source(bool given);
/* Hints that a request went through this proxy, and who chose it; returns -1. NULL: no hint. */
int http_hint_proxy(struct error *err, const char *proxy, bool given);

/* ERROR_USAGE when this is not a proxy-url that clientcmd takes: by http, https or socks5. The
 * message shows no password. */
int http_proxy_url_check(const char *url, struct error *err);
/* A proxy URL for messages: without the user and the password. The caller frees. */
char *http_shown_proxy(const char *proxy);

/* `proxy` as it is where this URL goes through it, NULL where it is excluded or `proxy` is empty.
 * `excluded` is NO_PROXY or WinHTTP's bypass list, or both, between commas, semicolons or blanks:
 * hosts, domains (".corp" too), prefixes, patterns with "*", each but a prefix with a port too, and
 * "<local>", a name without dots. Loopback never goes through one. The caller frees. */
char *http_proxy_for(const char *url, const char *proxy, const char *excluded);
/* The same with WinHTTP's list of proxies: "host:port" or "http=host:port;https=host:port". */
char *http_machine_proxy_for(const char *url, const char *proxies, const char *excluded);
/* The machine's proxy (a WinHTTP list: "host:port" or "http=...;https=...") and the hosts that go
 * without it; false when it has none. One for each platform. The caller frees. */
bool http_system_proxy(char **ret_proxy, char **ret_bypass);
