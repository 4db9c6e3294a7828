/* The node's certificates: made by us, stored where and as the kubelet keeps and rotates them. */
#pragma once

#include "kube/client.h"
#include "kube/csr.h"
#include "pki/certificate.h"

/* A look at what is stored. Text is owned; client_certificate_free(). */
struct client_certificate {
    char *path; /* of the dated file; of the link when it was found stored */
    char *chain_pem;
    char *key_pem; /* secret */
    int64_t not_before;
    int64_t not_after;
    char *csr_name; /* the request it came from; NULL when it was found stored */
    char *reason;   /* of the approval ("AutoApproved"), or NULL */
    bool made_now;  /* false: what was there is kept */
};
void client_certificate_free(struct client_certificate *certificate);

enum { CLIENT_CERTIFICATE_TIMEOUT_MS = 5 * 60 * 1000 }; /* kubeadm: TLSBootstrapTimeout */

/* Borrowed. */
struct client_certificate_options {
    const char *node_name;
    /* the kubelet's serving certificate, for these names; NULL: its client certificate */
    const struct csr_names *serves;
    const char *ca_pem;          /* the proven CA of the cluster; NULL: any */
    const char *folder;          /* NULL = KUBELET_CERTIFICATE_FOLDER */
    unsigned timeout_ms;         /* timeouts.tlsBootstrap; 0 = CLIENT_CERTIFICATE_TIMEOUT_MS */
    kube_csr_progress *progress; /* or NULL */
    void *progress_context;
};

/* What is stored and usable: valid now, for this node name, signed by this CA, key matching.
 * ERROR_ABSENT when there is none or it is not usable (the message says why). */
int client_certificate_load(struct host *host, const struct client_certificate_options *options,
                            struct client_certificate *ret, struct error *err);
/* The node that the stored one is for, valid or not: its CN is "system:node:<name>". The caller
 * frees; NULL when it has none. */
char *client_certificate_node(struct host *host);
/* Keeps a usable one, else: key (taken again from kubelet-client.key.tmp after a crash), request
 * (its name is kept in kubelet-client.csr.tmp and it is reused while it is still ours and neither
 * denied nor failed), wait, kubelet-client-<date>.pem (chain, then key, HOST_SECRET), link
 * kubelet-client-current.pem, temporary files removed. Safe to run again at any point. Kinds: those
 * of kube_csr_wait; ERROR_UNTRUSTED when what came back is not for our key and name. */
int client_certificate_ensure(struct kube_client *bootstrap, struct host *host,
                              const struct client_certificate_options *options,
                              struct client_certificate *ret, struct error *err);
/* Asks for another one, whatever is stored; with the node's own identity that is what the kubelet's
 * rotation does. With `proves` a client certificate is stored once the API server has answered it;
 * until then, and when anything fails, what was stored stays current, and its file stays beside the
 * new one in any case. With options->serves the files are kubelet-server-... in place of
 * kubelet-client-.... Kinds: those of client_certificate_ensure(). */
int client_certificate_make(struct kube_client *client, struct host *host,
                            const struct client_certificate_options *options, bool proves,
                            struct client_certificate *ret, struct error *err);
