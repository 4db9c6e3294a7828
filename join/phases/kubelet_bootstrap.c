/* The TLS bootstrap left to the kubelet: the file that it begins with, the wait, the end. */
#include "join/phases/kubelet_bootstrap.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "join/phases/client_certificate.h"
#include "join/kubelet/kubelet_files.h"
#include "join/phases/service_watch.h"
#include "kube/csr.h"
#include "services/service_table.h"

enum { TIMEOUT_MS = 5 * 60 * 1000, STEP_MS = 1000, STOP_MS = 30000 };

bool kubelet_bootstrap_is_chosen(const struct join *join) {
    return text_equal(join->options->tls_bootstrap, "kubelet");
}

/* What the kubelet will take for its own. */
static bool has_certificate(struct join *join, struct error *err) {
    struct client_certificate_options options = {.node_name = join->node_name,
                                                 .ca_pem = join->client.ca_pem};
    struct client_certificate certificate = {0};
    bool found = client_certificate_load(join->host, &options, &certificate, err) == 0;

    client_certificate_free(&certificate);
    return found;
}

bool kubelet_bootstrap_is_needed(struct join *join) {
    return kubelet_bootstrap_is_chosen(join) && !has_certificate(join, NULL);
}

static int remove_recorded(struct join *join, const char *path, struct error *err) {
    if (journal_file(&join->journal, path, err) < 0)
        return -1;
    return host_remove(join->host, path, err);
}

int kubelet_bootstrap_lay(struct join *join, struct error *err) {
    const struct kubeconfig *found = &join->discovery.config;
    const char *cluster = join->has_cluster ? join->cluster.name : NULL;
    _cleanup_(secret_freep) char *text = NULL;

    if (!join->has_discovery)
        return error_set(err, ERROR_USAGE,
                         "leave the TLS bootstrap to the kubelet: no token or discovery file was "
                         "given to begin it with");
    if (remove_recorded(join, KUBELET_KUBECONFIG_FILE, err) < 0 ||
        remove_recorded(join, KUBELET_CLIENT_CERTIFICATE_FILE, err) < 0)
        return -1;
    text = found->token && !found->client_key_pem
               ? kubeconfig_make_bootstrap(cluster ? cluster : "kubernetes", found->server,
                                           found->ca_pem, found->token)
               : kubeconfig_make(found);
    return journal_write(&join->journal, KUBELET_BOOTSTRAP_KUBECONFIG_FILE, text, strlen(text),
                         HOST_SECRET, NULL, err);
}

static bool is_done(struct join *join, struct error *why) {
    struct kubeconfig config = {0};
    bool good;

    if (kubeconfig_read_file(join->host, KUBELET_KUBECONFIG_FILE, &config, why) < 0)
        return false;
    good = has_certificate(join, why);
    kubeconfig_free(&config);
    return good;
}

static bool is_refused(const struct kube_csr *csr) {
    return csr->state == KUBE_CSR_DENIED || csr->state == KUBE_CSR_FAILED;
}

/* The newest request of the node; false when there is none or it cannot be looked at. */
static bool find_request(struct join *join, struct kube_csr *ret) {
    struct kube_client client = join->client; /* the same texts, without its patience */
    struct error ignored = {0};

    client.patience_ms = 0;
    return kube_csr_find(&client, KUBE_CSR_CLIENT_SIGNER, join->node_name, ret, &ignored) == 0;
}

char *kubelet_bootstrap_refused_before(struct join *join) {
    struct kube_csr csr = {0};
    char *name = NULL;

    if (find_request(join, &csr) && is_refused(&csr))
        name = xstrdup(csr.name);
    kube_csr_free(&csr);
    return name;
}

/* What becomes of the kubelet's request. */
static int look_at_request(struct join *join, const char *refused_before, unsigned waited_ms,
                           unsigned left_ms, struct error *err) {
    struct kube_csr csr = {0};
    char hint[320] = "";
    int result = 0;

    if (!find_request(join, &csr) || text_equal(csr.name, refused_before)) {
        join_tell_waiting(join, waited_ms, left_ms, "", "for the kubelet's certificate request");
        kube_csr_free(&csr);
        return 0;
    }
    if (is_refused(&csr))
        result = kube_csr_refused(&csr, err);
    else if (csr.state == KUBE_CSR_PENDING && waited_ms >= 3000)
        (void)text_format(hint, sizeof hint, "kubectl certificate approve %s", csr.name);
    if (result == 0)
        join_tell_waiting(join, waited_ms, left_ms, hint, "the kubelet's %s is %s", csr.name,
                          kube_csr_state_name(csr.state));
    kube_csr_free(&csr);
    return result;
}

static int late(struct join *join, const struct error *why, unsigned timeout_ms,
                struct error *err) {
    struct kube_csr csr = {0};
    struct error ignored = {0};

    (void)error_set(err, ERROR_TIMED_OUT, "wait for the kubelet's TLS bootstrap: waited %u s: %s",
                    timeout_ms / 1000, why->message);
    if (kube_csr_find(&join->client, KUBE_CSR_CLIENT_SIGNER, join->node_name, &csr, &ignored) ==
        0) {
        (void)error_prefix(err, "%s is %s", csr.name, kube_csr_state_name(csr.state));
        if (csr.state == KUBE_CSR_PENDING)
            (void)error_hint(err, "kubectl certificate approve %s", csr.name);
        kube_csr_free(&csr);
    }
    return error_hint(err, "its log: %s", service_log_folder(SERVICE_KUBELET));
}

static int wait_until(struct join *join, const char *refused_before, unsigned timeout_ms,
                      struct error *err) {
    uint64_t start = host_monotonic_ms(join->host);

    for (;;) {
        unsigned waited = (unsigned)(host_monotonic_ms(join->host) - start);
        struct error why = {0};

        if (is_done(join, &why))
            return 0;
        log_message(LOG_TRACE, "%s", why.message);
        if (waited >= timeout_ms)
            return late(join, &why, timeout_ms, err);
        if (look_at_request(join, refused_before, waited, timeout_ms - waited, err) < 0 ||
            service_watch_look(join, NULL, err) < 0 || host_sleep(join->host, STEP_MS, err) < 0)
            return -1;
    }
}

int kubelet_bootstrap_wait(struct join *join, const char *refused_before, struct error *err) {
    const struct join_options *o = join->options;
    unsigned timeout_ms = o->timeout                  ? (unsigned)o->timeout
                          : o->timeouts.tls_bootstrap ? (unsigned)o->timeouts.tls_bootstrap
                                                      : TIMEOUT_MS;
    struct error ignored = {0};

    if (wait_until(join, refused_before, timeout_ms, err) == 0)
        return 0;
    (void)host_service_stop(join->host, service_name(SERVICE_KUBELET), STOP_MS,
                            &ignored); /* what failed before counts */
    return -1;
}

void kubelet_bootstrap_end(struct join *join) {
    struct error why = {0};

    if (!journal_has(&join->journal, JOURNAL_FILE_ENTRY, KUBELET_BOOTSTRAP_KUBECONFIG_FILE))
        return;
    if (host_remove(join->host, KUBELET_BOOTSTRAP_KUBECONFIG_FILE, &why) < 0)
        join_warn(join, "%s: it holds the bootstrap token", why.message);
}
