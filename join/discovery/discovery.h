/* Gets a verified kubeconfig from an endpoint, a token and pins of the CA, or from a file. */
#pragma once

#include "base/json.h"
#include "host/http.h"
#include "kube/kubeconfig.h"
#include "pki/digest.h"

enum { DISCOVERY_TIMEOUT_MS = 300000 }; /* Default time limit, as kubeadm's timeouts.discovery */
/* Options of discovery: either endpoint and token, or file. Texts are borrowed. */
struct discovery_options {
    /* Address of the API server: "10.0.0.10:6443", "[fd00::1]:6443", "api.example:6443" */
    const char *endpoint;
    const char *token;                      /* Token for discovery */
    const char *tls_bootstrap_token;        /* Token of the TLS bootstrap; NULL means `token` */
    const struct text_list *ca_cert_hashes; /* Pins of CA certificates as given, or NULL */
    bool unsafe_skip_ca_verification;       /* Allows discovery without pins; no other effect */
    const char *file;                       /* Path or URL of the discovery file */
    /* Discovery is for a node. It fails with ERROR_USAGE when the published server leads each
     * machine to itself. */
    bool for_node;
    /* Path of an object that the caller needs next, or NULL. It may be requested with the token
     * instead of a second cluster-info, where that would prove nothing more. */
    const char *proof;
    unsigned timeout_ms;         /* Time limit of discovery; 0 means DISCOVERY_TIMEOUT_MS */
    unsigned interval_ms;        /* Pause between tries; 0 means 5 s, with jitter */
    unsigned signature_grace_ms; /* How long to wait for the token's signature; 0 means 10 s */
    /* Called before each pause with the failure and the time until the next try; or NULL. */
    void (*on_retry)(void *context, const struct error *why, unsigned next_ms, unsigned left_ms);
    void *on_retry_context;
};

struct discovery_result {
    /* Verified text of cluster-info, or of the discovery file as it will be used */
    char *kubeconfig;
    size_t kubeconfig_len;
    struct kubeconfig config;       /* Server, CA and credentials for the next requests */
    char matched_pin[PIN_TEXT_MAX]; /* The pin that matched; "" without pins */
    /* The server's Date minus this machine's clock, in seconds; 0 also when unknown. */
    int64_t clock_difference;
    char *proxy;      /* Proxy that was used, or NULL */
    bool proxy_given; /* The discovery file names the proxy */
    /* The object of options.proof; NULL when it was not requested or not received */
    json_t *proof;
    struct text_list warnings;
};

struct join_options;
/* Do the options of a join have a token or a discovery file? */
bool discovery_is_asked(const struct join_options *asked);
/* Makes the discovery options from the options of a join. Texts are borrowed from there; the
 * callback on_retry is not set. */
void discovery_options_make(const struct join_options *asked, struct discovery_options *ret);

/* Checks HOST:PORT; the host is an address or an ASCII name. Fails with ERROR_USAGE. */
int discovery_endpoint_check(const char *endpoint, struct error *err);
/* Makes the checks that need no network: either endpoint and token or a file; the form of token,
 * endpoint and pins; pins or the flag that skips them. Fails with ERROR_USAGE. discovery_run()
 * begins with these checks. */
int discovery_check(const struct discovery_options *options, struct error *err);

/* Checks a local discovery file as discovery_run() will: its form, the files that it names, its
 * credentials. Sends nothing. A URL, a pipe and a file that does not exist are left to
 * discovery_run(). Fails with ERROR_USAGE. */
int discovery_check_file(const struct discovery_options *options, struct host *host,
                         struct error *err);

/* Runs token discovery as kubeadm 1.37 does: requests cluster-info without verification, checks its
 * JWS signature and the pins, and requests it again with the pinned CA; both answers must be equal.
 * When each CA is pinned and the server is the endpoint, the object `proof` is requested instead,
 * because nothing else of cluster-info is used.
 * Connection failures are retried until the timeout. Permanent failures end it at once:
 * ERROR_UNTRUSTED (signature, pin, certificate, changed answer), ERROR_DENIED (401, 403; a token
 * without a signature), ERROR_ABSENT (404, no kubeconfig key), ERROR_MALFORMED. It also fails with
 * ERROR_NETWORK, ERROR_TIMED_OUT and ERROR_INTERRUPTED.
 * File discovery is as in kubeadm 1.37: a cluster-info that may not be read (403) or has no
 * kubeconfig is only a warning. A local file that cannot be read or is no kubeconfig is
 * ERROR_USAGE. */
int discovery_run(const struct discovery_options *options, struct http *http, struct host *host,
                  struct discovery_result *ret, struct error *err);
void discovery_result_free(struct discovery_result *result);
