/* Sends CertificateSigningRequests for node certificates and watches them until decided. */
#pragma once

#include "kube/client.h"

#define KUBE_CSR_CLIENT_SIGNER "kubernetes.io/kube-apiserver-client-kubelet"
#define KUBE_CSR_SERVING_SIGNER "kubernetes.io/kubelet-serving"
/* No controller approves requests for this signer automatically. */
#define KUBE_CSR_API_SIGNER "kubernetes.io/kube-apiserver-client"

enum kube_csr_state {
    KUBE_CSR_PENDING,
    KUBE_CSR_APPROVED, /* Approved but not signed yet. */
    KUBE_CSR_DENIED,
    KUBE_CSR_FAILED,
    KUBE_CSR_ISSUED,
};
extern const char *const kube_csr_states[KUBE_CSR_ISSUED + 1]; /* Names of the states. */

/* The state of a CertificateSigningRequest when it was read. Texts are owned; free it with
 * kube_csr_free(). */
struct kube_csr {
    char *name;
    char *uid;
    char *version; /* resourceVersion of the object, or "" when it has none. */
    char *request_pem;
    char *signer_name;
    char *certificate_pem; /* The issued certificate; NULL before. */
    char *reason;          /* Reason of the condition that decided the state, or "". */
    char *message;
    enum kube_csr_state state;
};
void kube_csr_free(struct kube_csr *csr);
/* Reads a CertificateSigningRequest from JSON. Another object fails with ERROR_MALFORMED. */
int kube_csr_from_json(const json_t *object, struct kube_csr *ret, struct error *err);

/* Creates a CertificateSigningRequest with generateName "csr-", this signer, and the usages
 * "digital signature" and "client auth" (for KUBE_CSR_SERVING_SIGNER "server auth"). The kubelet's
 * certificate manager makes the same request. */
int kube_csr_create(struct kube_client *client, const char *request_pem, const char *signer,
                    struct kube_csr *ret, struct error *err);
int kube_csr_get(struct kube_client *client, const char *name, struct kube_csr *ret,
                 struct error *err);
/* Finds the newest request to this signer whose subject is the node's. Fails with ERROR_ABSENT when
 * there is none. */
int kube_csr_find(struct kube_client *client, const char *signer, const char *node_name,
                  struct kube_csr *ret, struct error *err);
/* Finds the newest request to this signer with the given subject, e.g.
 * "CN=system:ovn-node:win-1,O=system:ovn-nodes". */
int kube_csr_find_subject(struct kube_client *client, const char *signer, const char *subject,
                          struct kube_csr *ret, struct error *err);
/* Is the request denied or failed, so that it never gets a certificate? */
static inline bool kube_csr_is_refused(const struct kube_csr *csr) {
    return csr->state == KUBE_CSR_DENIED || csr->state == KUBE_CSR_FAILED;
}
/* Sets the error for a denied or failed request: ERROR_DENIED, reason, message. Returns -1. */
int kube_csr_refused(const struct kube_csr *csr, struct error *err);

/* Reports progress: called at each change of state and about once a second. A result other than 0
 * ends the wait with ERROR_INTERRUPTED. */
typedef int kube_csr_progress(void *context, const struct kube_csr *csr, unsigned waited_ms);
/* Watches the request from its last seen version until it is issued. A request that was decided
 * already, or has no version, is listed first. *ret is its last state. Failure kinds: denied or
 * failed: ERROR_DENIED; deleted: ERROR_ABSENT; replaced by another UID: ERROR_CONFLICT; time over:
 * ERROR_TIMED_OUT with the state and, while it is not approved, the hint `kubectl certificate
 * approve NAME`. */
int kube_csr_wait(struct kube_client *client, const struct kube_csr *sent, unsigned timeout_ms,
                  kube_csr_progress *progress, void *context, struct kube_csr *ret,
                  struct error *err);
