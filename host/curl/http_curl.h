/* TLS, proxies and heads of HTTP on libcurl. Only host/curl/http_curl*.c include this. */
#pragma once

#include "host/host_ops.h"

/* What http_curl_new() makes. */
struct curl_http {
    struct http http;
    void *multi; /* a CURLM handle */
    char *user_agent;
    bool (*interrupted)(void *);
    void *context;
};

/* Each `easy` is a CURL handle. */

/* What the connection demands of the server. It must live as long as the handle; free `name`. */
struct http_curl_tls {
    bool full;         /* chain and dates */
    char *name;        /* that the certificate must be valid for; NULL: libcurl looks at it */
    bool by_tls_proxy; /* a connection to the proxy comes first */
    bool proxy_passed;
    bool begun; /* the server took a connection, and the handshake began */
};
/* TLS 1.2, with the ciphers, curves and signatures that Go's crypto/tls offers; chain, dates and
 * name by OpenSSL's rules, a name among the alternative ones, RSA keys of at most 8192 bits. */
void http_curl_trust(void *easy, const struct http_request *request, struct http_curl_tls *tls);
/* Trusts the machine's roots; `option`: the CURLOPT_ that is given them. */
void http_curl_trust_machine(void *easy, int option);
/* The request's URL; with server_name that name is its host, so that libcurl sends and verifies it:
 * *ret_connect_to (curl_slist, else untouched) leads to the real host, and *ret_host is what the
 * Host header stays. The caller frees. */
char *http_curl_url(const struct http_request *request, void **ret_connect_to, char **ret_host);
/* Method, body and headers; adds to `headers` (curl_slist, or NULL), which it returns and the
 * caller frees after the handle. */
void *http_curl_ask(void *easy, const struct http_request *request, void *headers);
/* Conversations (http_talk_all()), all whose `err` is clear. */
void http_curl_talk(struct http *base, struct http_talk *talks, size_t count);
/* The request's proxy, or that of the environment or the machine; *ret_shown is its URL without
 * user and password, NULL when there is none, and the caller's to free. ERROR_USAGE: it is not a
 * URL of a proxy by http, https or socks5. */
int http_curl_proxy(void *easy, const struct http_request *request, char **ret_shown,
                    struct error *err);
/* The chain that the server presented, as PEM, asked while the transfer has its connection; NULL
 * when that was not made just now. The caller frees. */
char *http_curl_chain(void *easy);
/* Fills in what the head of the answer says; may be called again. */
void http_curl_head(void *easy, struct http_response *response);
bool http_curl_has_two_lengths(void *easy);
/* libcurl's results (CURLcode) as kinds; all others are ERROR_NETWORK. */
enum error_kind http_curl_kind(int code);
/* The reason of a failed connection in the words that everybody searches for, or NULL. */
const char *http_curl_connect_reason(void *easy);
