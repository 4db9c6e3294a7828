/* winjoin certs: shows how long the node's certificates are valid, and renews them. */
#include "cmd/program.h"
#include "diag/first_look.h"
#include "join/kubelet/client_certificate.h"
#include "join/kubelet/kubelet_files.h"
#include "kube/kubeconfig.h"
#include "pki/certificate.h"
#include "services/service_table.h"

enum { CERTIFICATE_MAX = 1024 * 1024 };

/* ---- the present certificates ---- */

static void add_line(struct text *out, const char *what, const json_t *certificate) {
    if (json_text_at(certificate, "subject"))
        text_addf(out, "%-9s %s, valid until %s, %lld days left\n", what,
                  json_text_at(certificate, "subject"), json_text_at(certificate, "notAfter"),
                  json_number_at(certificate, "daysLeft", 0));
}

/* Fails because this machine has no usable client certificate: its file is absent, unreadable, or
 * has no node's identity. */
static int refuse(struct host *host, struct error *err) {
    _cleanup_(certificates_free) struct certificates list = {0};
    _cleanup_(secret_freep) char *pem = NULL;
    size_t len = 0;

    if (host_read(host, KUBELET_CLIENT_CERTIFICATE_FILE, CERTIFICATE_MAX, &pem, &len, err) < 0 &&
        err->kind != ERROR_ABSENT)
        return -1;
    if (pem && certificates_parse(pem, len, &list, err) < 0)
        return error_prefix(err, "read '%s'", KUBELET_CLIENT_CERTIFICATE_FILE);
    (void)error_set(err, ERROR_ABSENT, "read '%s': this machine has no node certificate",
                    KUBELET_CLIENT_CERTIFICATE_FILE);
    return error_hint(err, "winjoin join makes one");
}

/* Prints both certificates. `changed` is -1 for a call that renews nothing. */
static int show(struct program *program, int changed, struct error *err) {
    json_t *client = diag_look_certificate(program->host, KUBELET_CLIENT_CERTIFICATE_FILE);
    _cleanup_json_ json_t *serving =
        diag_look_certificate(program->host, KUBELET_SERVING_CERTIFICATE_FILE);
    json_t *result;
    _cleanup_(text_free) struct text out = {0};

    if (!json_text_at(client, "subject")) {
        json_decref(client);
        return refuse(program->host, err);
    }
    add_line(&out, "identity", client);
    add_line(&out, "serving", serving);
    output_text(program, text_str(&out));
    result = json_pack("{s:s, s:s, s:o}", JSON_DOCUMENT("NodeCertificates"), "client", client);
    if (json_text_at(serving, "subject"))
        json_object_set(result, "serving", serving);
    if (changed >= 0)
        json_object_set_new(result, "changed", json_boolean(changed));
    output_result(program, result);
    return 0;
}

/* ---- renewal ---- */

struct renewal {
    struct program *program;
    struct progress progress;
    struct join_progress waits;
    struct kube_client client;
    char *node_name;
    unsigned limit_ms;
};

static int on_request(void *context, const struct kube_csr *csr, unsigned waited_ms) {
    struct renewal *r = context;
    char hint[320] = "";

    if (csr->state == KUBE_CSR_PENDING && waited_ms >= 2000)
        (void)text_format(hint, sizeof hint, "kubectl certificate approve %s", csr->name);
    join_tell_waiting(&r->waits, waited_ms, waited_ms < r->limit_ms ? r->limit_ms - waited_ms : 0,
                      hint, "for %s: it is %s", csr->name, kube_csr_states[csr->state]);
    return host_interrupted(r->program->host);
}

/* Renews the serving certificate with the same names. A node whose cluster does not sign serving
 * certificates has no file of one. Which CA signs is up to the cluster, so it is not checked. */
static int ask_serving(struct renewal *r, struct client_certificate_options options,
                       struct error *err) {
    struct host *host = r->program->host;
    _cleanup_(secret_freep) char *pem = NULL;
    _cleanup_(certificates_free) struct certificates stored = {0};
    _cleanup_(client_certificate_free) struct client_certificate made = {0};
    size_t len = 0;

    if (host_file_type(host, KUBELET_SERVING_CERTIFICATE_FILE) == HOST_ABSENT)
        return 0;
    if (host_read(host, KUBELET_SERVING_CERTIFICATE_FILE, CERTIFICATE_MAX, &pem, &len, err) < 0)
        return -1;
    if (certificates_parse(pem, len, &stored, err) < 0) {
        (void)error_prefix(err, "read '%s'", KUBELET_SERVING_CERTIFICATE_FILE);
        return error_hint(err, "the kubelet makes another one when it finds none: Remove-Item "
                               "'" KUBELET_SERVING_CERTIFICATE_FILE "'; Restart-Service kubelet");
    }
    options.ca_pem = NULL;
    options.serves = &(struct csr_names){&stored.items[0].dns_names, &stored.items[0].ip_addresses};
    return client_certificate_make(&r->client, host, &options, false, &made, err);
}

/* Requests a new certificate. The stored one, which must still be valid, authenticates the request
 * and contains the node's name. */
static int renew(struct renewal *r, struct error *err) {
    struct host *host = r->program->host;
    struct client_certificate_options options;
    _cleanup_(client_certificate_free) struct client_certificate stored = {0}, made = {0};
    bool restarted;
    int result;

    r->node_name = client_certificate_node(host);
    if (!r->node_name)
        return refuse(host, err);
    if (kube_client_open_file(r->program->http, host, KUBELET_KUBECONFIG_FILE, &r->client, err) < 0)
        return -1;
    options = (struct client_certificate_options){.node_name = r->node_name,
                                                  .timeout_ms = r->limit_ms,
                                                  .progress = on_request,
                                                  .progress_context = r,
                                                  .ca_pem = r->client.ca_pem};
    if (client_certificate_load(host, &options, &stored, err) < 0)
        return error_hint(err, "winjoin join with a token makes another one: kubeadm token create "
                               "--print-join-command prints the line");
    if (client_certificate_make(&r->client, host, &options, true, &made, err) < 0)
        return -1;
    result = ask_serving(r, options, err);
    if (result < 0)
        (void)error_prefix(err, "renew the serving certificate (the client certificate is new)");
    /* The kubelet reads its certificates only at its start. kube-proxy and the agents read them
     * every few minutes. */
    return service_restart(host, &service_kubelet, &restarted, err) < 0 ? -1 : result;
}

int verb_certs(struct program *program, struct error *err) {
    struct renewal r = {.program = program,
                        .waits = {.listener = progress_show, .context = &r.progress}};
    const long long limit = program->options.join.timeout;
    int result;

    if (!program->words.count || !text_equal(program->words.items[0], "renew"))
        return show(program, -1, err);
    r.limit_ms = limit ? (unsigned)limit : CLIENT_CERTIFICATE_TIMEOUT_MS;
    record_open(program, "certs", NULL);
    progress_open(&r.progress, program);
    result = renew(&r, err);
    progress_close(&r.progress);
    if (result == 0)
        result = show(program, true, err);
    record_end(program, "certs", r.node_name, result, err);
    text_free(&r.waits.waiting);
    kube_client_close(&r.client);
    free(r.node_name);
    return result;
}
