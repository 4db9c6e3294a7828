/* The node's certificates: winjoin requests them and stores them where and as the kubelet does,
 * which rotates them later. */
#pragma once

#include "kube/client.h"
#include "kube/csr.h"
#include "pki/certificate.h"

/* A stored certificate with its key. Texts are owned; client_certificate_free(). */
struct client_certificate {
    /* Path of the dated file, or of the link when the certificate was already stored. */
    char *path;
    char *chain_pem;
    char *key_pem; /* Private key; secret */
    int64_t not_before;
    int64_t not_after;
    /* Name of the request for this certificate; NULL when it was already stored. */
    char *csr_name;
    char *reason;  /* Reason of the approval ("AutoApproved"), or NULL */
    bool made_now; /* false: a stored certificate was kept */
};
void client_certificate_free(struct client_certificate *certificate);

enum { CLIENT_CERTIFICATE_TIMEOUT_MS = 5 * 60 * 1000 }; /* As kubeadm's TLSBootstrapTimeout */

/* Options; all members are borrowed. */
struct client_certificate_options {
    const char *node_name;
    /* Names for the kubelet's serving certificate; NULL for the client certificate. */
    const struct csr_names *serves;
    const char *ca_pem; /* Verified CA of the cluster; NULL means any CA */
    const char *folder; /* Folder of the files; NULL means KUBELET_CERTIFICATE_FOLDER */
    /* Time limit, timeouts.tlsBootstrap; 0 means CLIENT_CERTIFICATE_TIMEOUT_MS. */
    unsigned timeout_ms;
    kube_csr_progress *progress; /* Called while waiting; or NULL */
    void *progress_context;
};

/* Reads the stored certificate and checks that it is usable: valid now, for this node name, signed
 * by this CA, with its key. Fails with ERROR_ABSENT when there is none or it is not usable (the
 * message says why). */
int client_certificate_load(struct host *host, const struct client_certificate_options *options,
                            struct client_certificate *ret, struct error *err);
/* Returns the name of the node for which the client certificate is stored, valid or not: its CN is
 * "system:node:<name>". The caller frees it; NULL when no certificate is stored. */
char *client_certificate_node(struct host *host);
/* Keeps a usable certificate. Otherwise it makes a key (or takes kubelet-client.key.tmp, which a
 * killed run left), sends a request (or continues the one whose name is in kubelet-client.csr.tmp,
 * while it is for this key and neither denied nor failed), waits for the certificate, writes
 * kubelet-client-<date>.pem (chain, then key, HOST_SECRET), links kubelet-client-current.pem to it
 * and removes the temporary files. Safe to repeat after a stop at any point. Fails as
 * kube_csr_wait(), or with ERROR_UNTRUSTED when the certificate is not for this key and name. */
int client_certificate_ensure(struct kube_client *bootstrap, struct host *host,
                              const struct client_certificate_options *options,
                              struct client_certificate *ret, struct error *err);
/* Requests a new certificate, even when one is stored. With the node's own identity, this is what
 * the kubelet's rotation does. With `proves`, a client certificate is stored only after the API
 * server has answered a request with it. Until then, and on failure, the stored one stays current;
 * its file always stays beside the new one. With options->serves the files are kubelet-server-...
 * instead of kubelet-client-.... Fails as client_certificate_ensure(). */
int client_certificate_make(struct kube_client *client, struct host *host,
                            const struct client_certificate_options *options, bool proves,
                            struct client_certificate *ret, struct error *err);
