/* This phase gets the client certificate, or leaves the TLS bootstrap to the kubelet. */
#include "base/rfc3339.h"
#include "join/found/need.h"
#include "join/kubelet/client_certificate.h"
#include "join/kubelet/kubelet_files.h"
#include "join/phases/steps.h"

unsigned certificate_limit_ms(const struct join_options *o) {
    long long limit = o->timeout ? o->timeout : o->tls_bootstrap_timeout;

    return limit ? (unsigned)limit : CLIENT_CERTIFICATE_TIMEOUT_MS;
}

static int on_csr(void *context, const struct kube_csr *csr, unsigned waited_ms) {
    struct join *join = context;
    unsigned limit_ms = certificate_limit_ms(&join->found.options);
    unsigned left_ms = waited_ms < limit_ms ? limit_ms - waited_ms : 0;
    char hint[320] = "";

    /* The hint is set before the first line about this wait is shown. */
    if (csr->state == KUBE_CSR_PENDING && waited_ms >= 2000)
        (void)text_format(hint, sizeof hint, "kubectl certificate approve %s", csr->name);
    if (csr->state == KUBE_CSR_PENDING)
        join_tell_waiting(&join->progress, waited_ms, left_ms, hint, "for %s to be approved",
                          csr->name);
    else if (csr->state == KUBE_CSR_APPROVED)
        join_tell_waiting(&join->progress, waited_ms, left_ms, "",
                          "for %s to be signed: it is approved", csr->name);
    return host_interrupted(join->host);
}

int phase_certificate(struct join *join, struct error *err) {
    const struct join_options *o = &join->found.options;
    struct client_certificate_options options = {.node_name = join->found.node_name,
                                                 .timeout_ms = certificate_limit_ms(o),
                                                 .progress = on_csr,
                                                 .progress_context = join};
    _cleanup_(client_certificate_free) struct client_certificate certificate = {0};
    char until[RFC3339_TEXT_MAX];

    /* Keys of certificates that the kubelet renews later get the access rights of this folder. */
    if (journal_own_folder(&join->journal, KUBELET_CERTIFICATE_FOLDER, err) < 0)
        return -1;
    /* With --tls-bootstrap kubelet, the kubelet requests the certificate itself. */
    if (join_kubelet_bootstraps(join->host, &join->found)) {
        if (journal_own_folder(&join->journal, KUBERNETES_FOLDER, err) < 0 ||
            kubelet_bootstrap_write(&join->journal, &join->found, err) < 0)
            return -1;
        text_addf(&join->progress.detail, "left to the kubelet, by %s",
                  KUBELET_BOOTSTRAP_KUBECONFIG_FILE);
        return 0;
    }
    options.ca_pem = join->found.client.ca_pem;
    if (client_certificate_ensure(&join->found.client, join->host, &options, &certificate, err) < 0)
        return err && kube_is_forbidden(err) ? error_hint(err, TOKEN_GROUP_HINT) : -1;
    rfc3339_format(certificate.not_after, until);
    join_fact(&join->progress, "notAfter", json_string(until));
    join_fact(&join->progress, "issued", json_boolean(certificate.made_now));
    until[10] = '\0';
    if (certificate.made_now)
        text_addf(&join->progress.detail, "%s approved (%s), valid until %s", certificate.csr_name,
                  certificate.reason && *certificate.reason ? certificate.reason : "manually",
                  until);
    else
        text_addf(&join->progress.detail, "keeping the stored certificate, valid until %s", until);
    return 0;
}
