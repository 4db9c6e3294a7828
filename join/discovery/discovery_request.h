/* Requests of cluster-info, shared by token and file discovery. Only for join/discovery/. */
#pragma once

#include "host/http.h"
#include "join/discovery/discovery.h"

/* One discovery: borrowed objects, the deadline, and facts from the answers. */
struct discovery {
    const struct discovery_options *options;
    struct http *http;
    struct host *host;
    const char *address;   /* Address of the server for messages: "10.0.0.10:6443". */
    const char *host_name; /* Host without port and brackets: "10.0.0.10". */
    const char *server;    /* URL of the server: "https://10.0.0.10:6443". */
    /* Id of the token whose signature cluster-info must have. NULL when no signature is needed. */
    const char *token_id;
    /* The kubeconfig of file discovery. Its credentials are sent, and the server is always
     * verified. NULL in token discovery. */
    const struct kubeconfig *credentials;
    /* When this is not NULL, options->proof is requested with this token instead of cluster-info,
     * and any answer proves the server. */
    const char *proof_token;
    uint64_t start, deadline;        /* In milliseconds of the monotonic clock. */
    struct discovery_result *result; /* The result that the requests fill. */
    bool dated;                      /* The server has sent its time (Date). */
};

/* The parts of ConfigMap cluster-info that discovery uses. Free them with cluster_info_free(). */
struct cluster_info {
    char *kubeconfig;
    char *signature; /* Value of data["jws-kubeconfig-<id>"]; NULL when it is not needed. */
};
void cluster_info_free(struct cluster_info *info);

/* Requests cluster-info until it is complete; the caller frees *ret with cluster_info_free(). With
 * ca_pem NULL the server is not verified. Connection failures are retried until the deadline. A
 * refusing answer (401, 403, 404, no signature, no kubeconfig, no JSON) is retried during the grace
 * time. An untrusted server fails at once. Fails with the error of the last request and hints, or
 * with ERROR_INTERRUPTED. */
int discovery_fetch(struct discovery *d, const char *ca_pem, struct cluster_info *ret,
                    struct error *err);

/* Says whether this HTTP status only means that the user of the discovery file may not read
 * cluster-info, or that the file has no user and the API server refuses anonymous requests. */
bool discovery_may_not_read(const struct discovery *d, unsigned long status);

/* Replaces the text of an ERROR_UNTRUSTED of a verified request by what is wrong: the certificate's
 * dates (compared with both clocks), its names, or its chain. Returns -1. */
int discovery_explain_trust(const struct discovery *d, const char *server_certs, const char *ca_pem,
                            struct error *err);
/* Checks the certificates of a server after a request. Refuses certificates that Go would not parse
 * and, when the request was verified (`full`), a certificate without the server's name among its
 * alternative names. server_certs is PEM, or NULL when the connection was checked before. Fails
 * with ERROR_UNTRUSTED. */
int discovery_check_name(const struct discovery *d, const char *server_certs, bool full,
                         struct error *err);

/* Runs discovery with a file, as a part of discovery_run(), and fills d->result. */
int discovery_run_file(struct discovery *d, struct error *err);
