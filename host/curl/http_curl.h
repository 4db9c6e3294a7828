/* Shared parts of HTTP with libcurl: TLS, proxies and response headers. Only host/curl/http_curl*.c
 * include this file. */
#pragma once

#include "host/host_ops.h"

/* The HTTP client that http_curl_new() makes. */
struct curl_http {
    struct http http;
    void *multi; /* A CURLM handle. */
    char *user_agent;
    bool (*interrupted)(void *);
    void *context;
};

/* In these functions, each `easy` is a CURL easy handle. */

/* What a connection demands of the server's certificate. It must live as long as the easy
 * handle. The owner frees `name`. */
struct http_curl_tls {
    bool full;  /* Verify the chain and the dates. */
    char *name; /* Name that the certificate must have; NULL when libcurl checks the name. */
    /* The connection goes through a proxy with TLS, so the first handshake is with the proxy. */
    bool by_tls_proxy;
    bool proxy_passed;
    bool begun; /* The server accepted the connection and the TLS handshake began. */
};
/* Configures TLS: version 1.2 or newer, with the ciphers, curves and signatures that Go's
 * crypto/tls offers. OpenSSL verifies chain, dates and name. The name must be among the alternative
 * names, and RSA keys may have at most 8192 bits. */
void http_curl_trust(void *easy, const struct http_request *request, struct http_curl_tls *tls);
/* Trusts the root certificates of the machine. `option` is the CURLOPT_ that receives them. */
void http_curl_trust_machine(void *easy, int option);
/* Returns the request's URL. When server_name is set, it replaces the host in the URL, so that
 * libcurl sends and verifies that name. Then *ret_connect_to (a curl_slist) directs the connection
 * to the real host, and *ret_host is the original value for the Host header. Without server_name
 * both are unchanged. The caller frees all. */
char *http_curl_url(const struct http_request *request, void **ret_connect_to, char **ret_host);
/* Sets method, body and headers. Adds to the list `headers` (curl_slist or NULL) and returns it;
 * the caller frees it after the handle. */
void *http_curl_ask(void *easy, const struct http_request *request, void *headers);
/* Runs all conversations (http_talk_all()) whose `err` is clear. */
void http_curl_talk(struct http *base, struct http_talk *talks, size_t count);
/* Sets the proxy: the request's own, or that of the environment or the machine. *ret_shown is its
 * URL without user and password, or NULL when no proxy is set; the caller frees it. Fails with
 * ERROR_USAGE when the URL is not an http, https or socks5 proxy. */
int http_curl_proxy(void *easy, const struct http_request *request, char **ret_shown,
                    struct error *err);
/* Returns the certificate chain that the server presented, as PEM. Must be called while the
 * transfer has its connection. NULL when the connection is a reused one. The caller frees the text.
 */
char *http_curl_chain(void *easy);
/* Fills the response's fields from the response headers. It may be called again. */
void http_curl_head(void *easy, struct http_response *response);
bool http_curl_has_two_lengths(void *easy);
/* Maps a libcurl result (CURLcode) to an error kind. Unlisted results are ERROR_NETWORK. */
enum error_kind http_curl_kind(int code);
/* Returns the reason of a failed connection in the usual words, e.g. "connection refused", or NULL
 * when it is unknown. */
const char *http_curl_connect_reason(void *easy);
