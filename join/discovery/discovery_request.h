/* Fetching cluster-info: what token and file discovery share. Not for other folders. */
#pragma once

#include "host/http.h"
#include "join/discovery/discovery.h"

/* One discovery: borrowed parts, the deadline, and what the answers told so far. */
struct discovery {
    const struct discovery_options *options;
    struct http *http;
    struct host *host;
    const char *address;   /* "10.0.0.10:6443", for messages */
    const char *host_name; /* "10.0.0.10", without brackets */
    const char *server;    /* "https://10.0.0.10:6443" */
    const char *token_id;  /* a signature for it must be there; NULL = not asked for */
    const struct kubeconfig *credentials; /* sent along and trust of file discovery; or NULL */
    const char *proof_token; /* not NULL: options->proof is asked for, with this token, in the place
                                of cluster-info; any answer proves the server */
    uint64_t start, deadline;        /* monotonic milliseconds */
    struct discovery_result *result; /* clock_difference, proxy and warnings are filled */
    bool dated;                      /* the server told its time */
};

/* What a ConfigMap cluster-info holds that matters. Owned; cluster_info_free(). */
struct cluster_info {
    char *kubeconfig;
    char *signature; /* data["jws-kubeconfig-<id>"]; NULL when not asked for */
};
void cluster_info_free(struct cluster_info *info);

/* Gets cluster-info until it has what is asked for. ca_pem NULL: nothing about the server is
 * verified. Connection problems are tried again until the deadline; an answer that says no (401,
 * 403, 404, no signature, no kubeconfig, no JSON) until the grace is over; what is untrusted ends
 * at once. Fills the error with hints. */
int discovery_fetch(struct discovery *d, const char *ca_pem, struct cluster_info *ret,
                    struct error *err);

/* Does this HTTP status only say that the user of the discovery file may not read cluster-info, or
 * that the file has no user, whom an API server without anonymous requests asks for? */
bool discovery_may_not_look(const struct discovery *d, unsigned long status);

/* Turns "untrusted" of a verified request into what is wrong: dates with the clocks, names with
 * those that the certificate has, or the chain. Returns -1. */
int discovery_explain_trust(const struct discovery *d, const char *server_certs, const char *ca_pem,
                            struct error *err);
/* Of a server that was taken, verified (`full`) or not: refuses certificates that Go would not
 * parse and, when verified, one without a fitting alternative name. */
int discovery_check_name(const struct discovery *d, const char *server_certs, bool full,
                         struct error *err);

/* The file half of discovery_run. */
int discovery_run_file(struct discovery *d, struct error *err);
