/* Discovery: from an endpoint, a token and pins to a proven kubeconfig, or from a file. */
#pragma once

#include "base/json.h"
#include "host/http.h"
#include "kube/kubeconfig.h"
#include "pki/digest.h"

enum { DISCOVERY_TIMEOUT_MS = 300000 }; /* as kubeadm's timeouts.discovery */
/* Borrowed text. Either endpoint and token, or file. */
struct discovery_options {
    const char *endpoint;            /* "10.0.0.10:6443", "[fd00::1]:6443", "api.example:6443" */
    const char *token;               /* discovery token */
    const char *tls_bootstrap_token; /* NULL = token */
    const struct text_list *ca_cert_hashes; /* pins as given, or NULL */
    bool unsafe_skip_ca_verification;       /* lets validation pass without pins, nothing more */
    const char *file;                       /* path (drive letters are paths) */
    bool for_node; /* ERROR_USAGE for a published server that leads each machine to itself */
    /* the path of an object that is asked for next, with the token: NULL, or in the place of a
     * second cluster-info that could say nothing new */
    const char *proof;
    unsigned timeout_ms;         /* 0 = DISCOVERY_TIMEOUT_MS */
    unsigned interval_ms;        /* between tries; 0 = 5 s, with jitter */
    unsigned signature_grace_ms; /* how long the token's signature may lag; 0 = 10 s */
    /* Told before each wait: what failed and when the next try is. NULL = nobody. */
    void (*on_retry)(void *context, const struct error *why, unsigned next_ms, unsigned left_ms);
    void *on_retry_context;
};

struct discovery_result {
    char *kubeconfig; /* the proven bytes of cluster-info, or the file as it will be used */
    size_t kubeconfig_len;
    struct kubeconfig config;       /* server, CA and the credentials to go on with */
    char matched_pin[PIN_TEXT_MAX]; /* "" without pins */
    int64_t clock_difference; /* the server's Date minus our clock, seconds; 0 = unknown too */
    char *proxy;              /* the proxy that was used, or NULL */
    bool proxy_given;         /* by the discovery file */
    json_t *proof;            /* that object; NULL: not asked for, or not had */
    struct text_list warnings;
};

struct join_options;
/* true when the call was given something to discover with. */
bool discovery_is_asked(const struct join_options *asked);
/* What the call asks for, borrowed from it; without a progress callback. */
void discovery_options_make(const struct join_options *asked, struct discovery_options *ret);

/* HOST:PORT with an address or a name in ASCII. ERROR_USAGE. */
int discovery_endpoint_check(const char *endpoint, struct error *err);
/* The checks that need no network: one of endpoint/token and file, form of token, endpoint and
 * pins, pins or the skip flag. ERROR_USAGE. discovery_run begins with it. */
int discovery_check(const struct discovery_options *options, struct error *err);

/* Reads a local discovery file as discovery_run will: its form, the files that it names, its
 * credentials. Nothing is sent. A URL, a file that is not there and a pipe are left to
 * discovery_run. ERROR_USAGE. */
int discovery_check_file(const struct discovery_options *options, struct host *host,
                         struct error *err);

/* Token discovery as kubeadm 1.37 does it (cluster-info without trust, JWS, pins, cluster-info
 * again with the pinned CA, byte-equal; or `proof` with it, where each CA is pinned and the server
 * is the endpoint: nothing else of cluster-info is used). Connection problems are tried again until
 * the timeout; permanent ones end at once: ERROR_UNTRUSTED (signature, pin, certificate, changed
 * answer), ERROR_DENIED (401, 403; a token that has no signature), ERROR_ABSENT (404, no kubeconfig
 * key), ERROR_MALFORMED. Else ERROR_NETWORK, ERROR_TIMED_OUT, ERROR_INTERRUPTED. File discovery
 * as 1.37: a cluster-info that cannot be read (403) or has no kubeconfig is only a warning. A local
 * file that cannot be read or is no kubeconfig: ERROR_USAGE. */
int discovery_run(const struct discovery_options *options, struct http *http, struct host *host,
                  struct discovery_result *ret, struct error *err);
void discovery_result_free(struct discovery_result *result);
