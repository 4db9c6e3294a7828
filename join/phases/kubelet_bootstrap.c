/* Leaves the TLS bootstrap to the kubelet: writes its file, waits, and removes the file. */
#include "join/phases/steps.h"

#include "base/log.h"
#include "join/found/need.h"
#include "join/kubelet/kubelet_files.h"
#include "join/services/service_watch.h"
#include "kube/csr.h"

enum { STEP_MS = 1000, STOP_MS = 30000 };

int kubelet_bootstrap_write(struct journal *journal, const struct join_found *found,
                            struct error *err) {
    static const char *const earlier[] = {KUBELET_KUBECONFIG_FILE, KUBELET_CLIENT_CERTIFICATE_FILE};
    const struct kubeconfig *config = &found->discovery.config;
    const char *cluster = found->cluster.name;
    _cleanup_(secret_freep) char *text = NULL;

    if (!found->discovery.kubeconfig)
        return error_set(
            err, ERROR_USAGE,
            "leave the TLS bootstrap to the kubelet: no token or discovery file was given for it");
    for (size_t i = 0; i < ARRAY_SIZE(earlier); i++)
        if (journal_file(journal, earlier[i], err) < 0 ||
            host_remove(journal->host, earlier[i], err) < 0)
            return -1;
    text = config->token && !config->client_key_pem
               ? kubeconfig_make_bootstrap(cluster ? cluster : "kubernetes", config->server,
                                           config->ca_pem, config->token)
               : kubeconfig_make(config);
    return journal_write(journal, KUBELET_BOOTSTRAP_KUBECONFIG_FILE, text, strlen(text),
                         HOST_SECRET, err);
}

/* Finds the newest request of the node. Returns false when there is none or it cannot be read. */
static bool find_request(struct join *join, struct kube_csr *ret) {
    /* A copy that borrows the texts of the first client and tries each request only once. */
    struct kube_client client = join->found.client;

    client.patience_ms = 0;
    return kube_csr_find(&client, KUBE_CSR_CLIENT_SIGNER, join->found.node_name, ret,
                         ERROR_IGNORED) == 0;
}

char *kubelet_bootstrap_refused_before(struct join *join) {
    _cleanup_(kube_csr_free) struct kube_csr csr = {0};

    return find_request(join, &csr) && kube_csr_is_refused(&csr) ? xstrdup(csr.name) : NULL;
}

struct bootstrap {
    struct join *join;
    const char *refused_before;
    struct error why; /* Why the kubelet has no usable certificate */
};

static enum wait_poll poll_certificate(void *context, struct wait *wait, struct error *err) {
    struct bootstrap *b = context;
    _cleanup_(kubeconfig_free) struct kubeconfig config = {0};
    _cleanup_(kube_csr_free) struct kube_csr csr = {0};

    error_clear(&b->why);
    if (kubeconfig_read_file(b->join->host, KUBELET_KUBECONFIG_FILE, NULL, &config, &b->why) == 0 &&
        join_has_certificate(b->join->host, &b->join->found, &b->why))
        return POLL_DONE;
    log_message(LOG_TRACE, "%s", b->why.message);
    if (service_watch_check(&b->join->watch, NULL, err) < 0)
        return POLL_FAILED;

    /* The state of the kubelet's request is reported while waiting. */
    if (!find_request(b->join, &csr) || text_equal(csr.name, b->refused_before)) {
        (void)error_set(err, ERROR_TIMED_OUT, "for the kubelet's certificate request");
        return POLL_AGAIN;
    }
    if (kube_csr_is_refused(&csr))
        return kube_csr_refused(&csr, err);
    (void)error_set(err, ERROR_TIMED_OUT, "the kubelet's %s is %s", csr.name,
                    kube_csr_states[csr.state]);
    if (csr.state == KUBE_CSR_PENDING && wait->waited_ms >= 3000)
        (void)error_hint(err, "kubectl certificate approve %s", csr.name);
    return POLL_AGAIN;
}

int kubelet_bootstrap_wait(struct join *join, const char *refused_before, struct error *err) {
    struct bootstrap bootstrap = {.join = join, .refused_before = refused_before};
    struct wait wait = {.limit_ms = certificate_limit_ms(&join->found.options),
                        .pause_ms = STEP_MS,
                        .poll = poll_certificate,
                        .context = &bootstrap};
    enum wait_poll end = join_wait(join->host, &join->progress, &wait, err);
    _cleanup_(kube_csr_free) struct kube_csr csr = {0};

    if (end == POLL_DONE)
        return 0;
    if (end == POLL_AGAIN) {
        (void)error_set(err, ERROR_TIMED_OUT,
                        "wait for the kubelet's TLS bootstrap: waited %u s: %s",
                        wait.limit_ms / 1000, bootstrap.why.message);
        if (kube_csr_find(&join->found.client, KUBE_CSR_CLIENT_SIGNER, join->found.node_name, &csr,
                          ERROR_IGNORED) == 0) {
            (void)error_prefix(err, "%s is %s", csr.name, kube_csr_states[csr.state]);
            if (csr.state == KUBE_CSR_PENDING)
                (void)error_hint(err, "kubectl certificate approve %s", csr.name);
        }
        (void)error_hint(err, "its log: %s", service_kubelet.log_folder);
    }
    /* The reported failure is the earlier one, not one of this stop. */
    (void)host_service_stop(join->host, service_kubelet.name, STOP_MS, ERROR_IGNORED);
    return -1;
}

void kubelet_bootstrap_end(struct journal *journal, struct join_progress *progress) {
    struct error why = {0};

    if (!journal_find(journal, JOURNAL_FILE_ENTRY, KUBELET_BOOTSTRAP_KUBECONFIG_FILE))
        return;
    if (host_remove(journal->host, KUBELET_BOOTSTRAP_KUBECONFIG_FILE, &why) < 0)
        join_warn(progress, "%s: it holds the bootstrap token", why.message);
}
