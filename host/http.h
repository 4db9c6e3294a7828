/* The interface for HTTP requests, implemented with libcurl (host/curl/http_curl.c).
 *
 * Redirects and compression must be requested. TLS is 1.2 or newer, HTTP is version 1.1, and every
 * answer has limits of time and size.
 *
 * The caller frees each char * that a function returns or stores through a pointer. */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

enum http_verify {
    HTTP_VERIFY_FULL, /* Verify chain, dates and name, with the roots in `ca_pem`, or the system's
                         roots when it is NULL. */
    HTTP_VERIFY_NONE, /* Verify nothing. Only for the first step of token discovery. */
};
enum { HTTP_BODY_MAX = 8 * 1024 * 1024 };

/* The time limit of a request that sets none. */
enum { HTTP_TIMEOUT_MS = 10000 };

struct http_response;
/* One HTTP request. All texts belong to the caller and must live until the request ends. */
struct http_request {
    const char *method; /* HTTP method; NULL means "GET". */
    const char *url;
    enum http_verify verify;
    const char *ca_pem; /* Trusted root certificates; replace the system's roots. May be NULL. */
    /* Name to verify and to send by SNI instead of the URL's host, or NULL. */
    const char *server_name;
    const char *client_cert_pem; /* Client certificate; needs client_key_pem. */
    const char *client_key_pem;
    const char *bearer_token;
    const char *accept;       /* Accepted media types; NULL means JSON first, then any. */
    const char *content_type; /* Media type of `body`; NULL means JSON. */
    const char *body;
    size_t body_len;
    unsigned timeout_ms; /* Time limit of the whole request; 0 means HTTP_TIMEOUT_MS. */
    unsigned silent_ms;  /* When not 0, the request ends when no data has arrived for this long. */
    size_t max_body;     /* Limit for the body; 0 means HTTP_BODY_MAX, or no limit when streamed. */
    /* Accept a compressed answer. max_body applies to the unpacked bytes, `length` does not. */
    bool gzip;
    bool follow_redirects;
    /* URL of the proxy; NULL means from the environment as Go reads it, "" means none. */
    const char *proxy;
    /* For streaming: receives each piece of the body, which is then not collected. A nonzero result
     * ends the request, and the answer counts as success. It is also called with len 0 about once a
     * second; only then may it send requests itself. */
    int (*on_data)(void *context, const char *data, size_t len);
    /* Optional with on_data: receives status, length and range_begin before the first piece. A
     * nonzero result ends the request as in on_data. Not called for an answer without a body. */
    int (*on_head)(void *context, const struct http_response *head);
    void *on_data_context;
    uint64_t range_begin; /* Request only the bytes from this offset on; 0 means everything. */
};

/* The answer to a request. Initialize it with zeros and free it with http_response_free(). */
struct http_response {
    long status;
    char *body; /* Body with a NUL at the end; NULL when it was streamed. */
    size_t body_len;
    int64_t length; /* Content-Length; -1 when absent. */
    /* Position of the first byte of this part, from Content-Range; -1 when absent or unreadable. */
    int64_t range_begin;
    int64_t date; /* Date header in seconds since 1970; 0 when absent. */
    /* Retry-After in seconds (a date is converted); -1 when absent, 0, or more than a day. */
    long retry_after;
    char *content_type; /* Content-Type header, or NULL. */
    /* All WWW-Authenticate headers joined with ", "; NULL without one or after a redirect. */
    char *challenge;
    /* The certificate chain of the server as PEM; NULL on a reused connection. */
    char *server_certs;
    char *proxy; /* The proxy that was used, or NULL. */
    unsigned milliseconds;
    /* Time from when the request was ready to be sent until the first byte of the answer. */
    unsigned wait_us;
};
void http_response_free(struct http_response *response);

/* The value of err->os when a request failed although there was a connection. Without a connection,
 * err->os is 0. */
enum { HTTP_CONNECTED = 1 };

struct http;
/* Sends the request. Any HTTP status is a success. Fails with ERROR_NETWORK (name resolution,
 * connection or TLS failed, or the answer broke off), ERROR_TIMED_OUT, ERROR_UNTRUSTED (the message
 * says whether chain, dates or name; ret->server_certs is filled when the server sent
 * certificates), ERROR_MALFORMED (too long, or not HTTP), ERROR_INTERRUPTED. After a failure only
 * ret->server_certs and ret->proxy may be set. */
int http_perform(struct http *http, const struct http_request *request, struct http_response *ret,
                 struct error *err);
/* One of several requests that run at the same time. */
struct http_exchange {
    struct http_request request;
    struct http_response response; /* The answer, as of http_perform(). */
    /* The caller's error, cleared before the call; ERROR_NONE afterwards when the request
     * succeeded. */
    struct error *err;
    /* Called with on_data_context when this request has ended; may be NULL. */
    void (*ended)(void *context, const struct http_exchange *exchange);
};
/* Performs all exchanges like http_perform() and returns when all have ended. The timeout of each
 * begins when it is sent. At most `at_once` run at the same time, not counting those without an
 * answer for 0.3 s. With 0, as many run as is best, and never more than 256. */
void http_perform_all(struct http *http, struct http_exchange *exchanges, size_t count,
                      size_t at_once);
/* A conversation of bytes on its own connection, for protocols that begin as HTTP and continue as
 * something else. It sends `first`, then passes each received piece to `heard`. That function adds
 * to `reply` what to send next and sets *ret_done when the conversation is complete; it returns -1
 * with err to end it with a failure. It is called with len 0 about four times a second while
 * nothing arrives. Of the request only URL, trust, TLS credentials and proxy are used. timeout_ms
 * limits only the connection; `heard` must watch its own time limit. */
struct http_talk {
    struct http_request request;
    const void *first;
    size_t first_len;
    int (*heard)(void *context, const void *data, size_t len, struct text *reply, bool *ret_done,
                 struct error *err);
    void *context;
    /* The caller's error, cleared before the call; ERROR_NONE afterwards when the conversation
     * succeeded. */
    struct error *err;
};
/* Runs several conversations at the same time and returns when all have ended. They connect one
 * after the other. Fails with ERROR_NETWORK (no connection, or the server closed it),
 * ERROR_TIMED_OUT, ERROR_UNTRUSTED, ERROR_INTERRUPTED, and those of `heard`. */
void http_talk_all(struct http *http, struct http_talk *talks, size_t count);
/* Creates an HTTP client, which keeps connections open between requests. While requests run, it
 * calls `interrupted` (may be NULL) several times a second. */
struct http *http_curl_new(const char *user_agent, bool (*interrupted)(void *), void *context);
void http_free(struct http *http);

/* Returns a URL for messages, without user, password, query and fragment, which may be secret. */
char *http_shown_url(const char *url);

/* Says for messages who chose a proxy. `given` is true for one from a kubeconfig. */
const char *http_proxy_source(bool given);
/* Adds a hint that a request went through this proxy and who chose it. Returns -1. A NULL proxy
 * adds no hint. */
int http_hint_proxy(struct error *err, const char *proxy, bool given);

/* Fails with ERROR_USAGE when the URL is not a proxy-url that clientcmd accepts: http, https or
 * socks5. The message never shows the password. */
int http_proxy_url_check(const char *url, struct error *err);
/* Returns a proxy URL for messages, without user and password. */
char *http_shown_proxy(const char *proxy);

/* Returns a copy of `proxy` when the URL should use it; NULL when the URL is excluded or `proxy` is
 * empty. `excluded` is NO_PROXY, WinHTTP's bypass list, or both, separated by commas, semicolons or
 * blanks. Items are hosts, domains (also ".corp"), prefixes, patterns with "*", all except prefixes
 * also with a port, and "<local>" for names without dots. Loopback never uses a proxy. */
char *http_proxy_for(const char *url, const char *proxy, const char *excluded);
/* Returns the proxy for a URL from WinHTTP's list of proxies: "host:port" or
 * "http=host:port;https=host:port". All else is as in http_proxy_for(). */
char *http_machine_proxy_for(const char *url, const char *proxies, const char *excluded);
/* Reads the machine's proxy setting (a WinHTTP list: "host:port" or "http=...;https=...") and the
 * hosts that bypass it. Returns false when there is none. Each platform implements it. */
bool http_system_proxy(char **ret_proxy, char **ret_bypass);
