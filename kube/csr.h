/* CertificateSigningRequests: send one for a node's certificate, watch what becomes of it. */
#pragma once

#include "kube/client.h"

#define KUBE_CSR_CLIENT_SIGNER "kubernetes.io/kube-apiserver-client-kubelet"
#define KUBE_CSR_SERVING_SIGNER "kubernetes.io/kubelet-serving"
#define KUBE_CSR_API_SIGNER "kubernetes.io/kube-apiserver-client" /* nobody approves by itself */

enum kube_csr_state {
    KUBE_CSR_PENDING,
    KUBE_CSR_APPROVED, /* not signed yet */
    KUBE_CSR_DENIED,
    KUBE_CSR_FAILED,
    KUBE_CSR_ISSUED,
};
extern const char *const kube_csr_states[KUBE_CSR_ISSUED + 1]; /* "pending", ... */

/* One look at an object. Text is owned; kube_csr_free(). */
struct kube_csr {
    char *name;
    char *uid;
    char *version; /* its resourceVersion, "" when it has none */
    char *request_pem;
    char *signer_name;
    char *certificate_pem; /* NULL until issued */
    char *reason;          /* of the condition that decided the state, "" when none */
    char *message;
    enum kube_csr_state state;
};
void kube_csr_free(struct kube_csr *csr);
/* ERROR_MALFORMED when it is no CertificateSigningRequest. */
int kube_csr_from_json(const json_t *object, struct kube_csr *ret, struct error *err);

/* POSTs one: generateName "csr-", this signer, usages "digital signature" and, for
 * KUBE_CSR_SERVING_SIGNER "server auth", else "client auth" (the kubelet's own requests, facts of
 * certificate manager). */
int kube_csr_create(struct kube_client *client, const char *request_pem, const char *signer,
                    struct kube_csr *ret, struct error *err);
int kube_csr_get(struct kube_client *client, const char *name, struct kube_csr *ret,
                 struct error *err);
/* The newest request to this signer whose subject is the node's; ERROR_ABSENT: none. */
int kube_csr_find(struct kube_client *client, const char *signer, const char *node_name,
                  struct kube_csr *ret, struct error *err);
/* The same of any subject, "CN=system:ovn-node:win-1,O=system:ovn-nodes". */
int kube_csr_find_subject(struct kube_client *client, const char *signer, const char *subject,
                          struct kube_csr *ret, struct error *err);
/* The error of one that was denied or failed: ERROR_DENIED with its reason and message. -1. */
int kube_csr_refused(const struct kube_csr *csr, struct error *err);

/* Told at each change of state and about once a second. Not 0 ends the wait (ERROR_INTERRUPTED). */
typedef int kube_csr_progress(void *context, const struct kube_csr *csr, unsigned waited_ms);
/* Watches the request, from the version at which it was seen last, until it is issued; one that
 * was decided already, or has no version, is listed first. *ret is its last look. Denied and
 * failed: ERROR_DENIED; deleted: ERROR_ABSENT; another uid under the name: ERROR_CONFLICT; time:
 * ERROR_TIMED_OUT with the state and, while nobody has approved it, the hint
 * `kubectl certificate approve NAME`. */
int kube_csr_wait(struct kube_client *client, const struct kube_csr *sent, unsigned timeout_ms,
                  kube_csr_progress *progress, void *context, struct kube_csr *ret,
                  struct error *err);
