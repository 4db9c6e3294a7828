/* The node's certificates: asks for one with our own key and stores it as the kubelet does. */
#include "join/kubelet/client_certificate.h"

#include "base/log.h"
#include "join/kubelet/client_certificate_store.h"
#include "kube/node.h"
#include "pki/certificate.h"
#include "pki/csr.h"

enum { SMALL_FILE_MAX = 64 * 1024 };

/* One run of ensure. */
struct request {
    struct kube_client *client;
    struct host *host;
    const struct client_certificate_options *options;
    char *key_path, *name_path; /* of the two temporary files */
    char *key_pem;
    struct kube_csr csr;
    bool proves; /* used before it is stored */
};

static void request_free(struct request *r) {
    free(r->key_path);
    free(r->name_path);
    secret_free_text(r->key_pem);
    kube_csr_free(&r->csr);
}

/* ---- key ---- */

static int ensure_key(struct request *r, struct error *err) {
    size_t len = 0;

    if (host_read(r->host, r->key_path, SMALL_FILE_MAX, &r->key_pem, &len, NULL) == 0 &&
        key_check(r->key_pem, NULL) == 0)
        return 0; /* an earlier run left it */
    secret_free_text(take_ptr(r->key_pem));
    if (key_generate(&r->key_pem, err) < 0)
        return -1;
    return host_write(r->host, r->key_path, r->key_pem, strlen(r->key_pem), HOST_SECRET, err);
}

/* ---- request ---- */

/* name and uid of an earlier run's request, a line each; false when there is none. */
static bool read_name(struct request *r, char **ret_name, char **ret_uid) {
    _cleanup_(freep) char *text = NULL;
    _cleanup_(text_list_free) struct text_list lines = {0};
    size_t len = 0;
    bool found;

    if (host_read(r->host, r->name_path, SMALL_FILE_MAX, &text, &len, NULL) < 0)
        return false;
    text_list_split(&lines, text, '\n');
    found = lines.count == 2;
    if (found) {
        *ret_name = xstrdup(lines.items[0]);
        *ret_uid = xstrdup(lines.items[1]);
    }
    return found;
}

static bool issued_and_over(const struct request *r, const struct kube_csr *csr) {
    _cleanup_(certificates_free) struct certificates all = {0};

    if (!csr->certificate_pem ||
        certificates_parse(csr->certificate_pem, strlen(csr->certificate_pem), &all, NULL) < 0)
        return csr->certificate_pem != NULL;
    return certificate_check_dates(&all.items[0], host_now(r->host), NULL) < 0;
}

static bool is_usable(const struct request *r, const struct kube_csr *csr, const char *uid) {
    return text_equal(csr->uid, uid) && csr->state != KUBE_CSR_DENIED &&
           csr->state != KUBE_CSR_FAILED && csr->request_pem &&
           csr_is_ours(csr->request_pem, r->key_pem, r->options->node_name) &&
           !issued_and_over(r, csr);
}

/* 1 when an earlier request is taken up again, 0 when a new one is needed. */
static int find_earlier(struct request *r, struct error *err) {
    _cleanup_(freep) char *name = NULL, *uid = NULL;
    struct error why = {0};

    if (!read_name(r, &name, &uid))
        return 0;
    if (kube_csr_get(r->client, name, &r->csr, &why) < 0) {
        if (why.kind == ERROR_ABSENT || why.kind == ERROR_DENIED || why.kind == ERROR_MALFORMED)
            return 0;
        return error_pass(err, &why);
    }
    if (is_usable(r, &r->csr, uid))
        return 1;
    kube_csr_free(&r->csr);
    return 0;
}

static int ensure_request(struct request *r, struct error *err) {
    _cleanup_(freep) char *pem = NULL, *record = NULL;
    int found = find_earlier(r, err);

    if (found)
        return found < 0 ? -1 : 0;
    if (csr_make(r->key_pem, r->options->node_name, r->options->serves, &pem, err) < 0 ||
        kube_csr_create(r->client, pem,
                        r->options->serves ? KUBE_CSR_SERVING_SIGNER : KUBE_CSR_CLIENT_SIGNER,
                        &r->csr, err) < 0)
        return -1;
    record = xasprintf("%s\n%s\n", r->csr.name, r->csr.uid);
    return host_write(r->host, r->name_path, record, strlen(record), HOST_PUBLIC, err);
}

static int wait_for_it(struct request *r, struct error *err) {
    const struct client_certificate_options *o = r->options;
    unsigned timeout_ms = o->timeout_ms ? o->timeout_ms : CLIENT_CERTIFICATE_TIMEOUT_MS;
    struct kube_csr issued = {0};

    if (kube_csr_wait(r->client, &r->csr, timeout_ms, o->progress, o->progress_context, &issued,
                      err) < 0)
        return -1;
    kube_csr_free(&r->csr);
    r->csr = issued;
    return 0;
}

/* What was issued and is no use is not waited for again: the next run asks again. */
static int store(struct request *r, struct client_certificate *ret, struct error *err) {
    if (client_certificate_store(r->host, r->options, r->csr.certificate_pem, r->key_pem, ret,
                                 err) == 0)
        return 0;
    if (!err || err->kind == ERROR_UNTRUSTED || err->kind == ERROR_MALFORMED)
        (void)host_remove(r->host, r->name_path, NULL); /* what stays is judged by the next run */
    if (err && err->kind == ERROR_UNTRUSTED)
        (void)error_hint(err, "check that the cluster's own CA signs certificates and that this "
                              "machine's clock is right; the next join sends a new request");
    return error_prefix(err, "use the certificate issued for certificate signing request \"%s\"",
                        r->csr.name);
}

/* ---- together ---- */

static void remove_temporary(const struct request *r) {
    /* what stays is found and judged by the next run */
    (void)host_remove(r->host, r->key_path, NULL);
    (void)host_remove(r->host, r->name_path, NULL);
}

/* The API server takes it for this node's. */
static int prove(struct request *r, struct error *err) {
    struct kube_client client = *r->client; /* the same server, another identity; nothing owned */
    _cleanup_(kube_node_free) struct kube_node node = {0};

    client.client_cert_pem = r->csr.certificate_pem;
    client.client_key_pem = r->key_pem;
    client.bearer_token = NULL;
    if (kube_node_get(&client, r->options->node_name, &node, err) < 0)
        return error_prefix(err, "use the new certificate");
    return 0;
}

static int make_new(struct request *r, struct client_certificate *ret, struct error *err) {
    struct client_certificate made = {0};

    if (ensure_key(r, err) < 0 || ensure_request(r, err) < 0 || wait_for_it(r, err) < 0 ||
        (r->proves && prove(r, err) < 0))
        return -1;
    if (store(r, &made, err) < 0)
        return -1;
    made.csr_name = xstrdup(r->csr.name);
    made.reason = xstrdup(r->csr.reason);
    made.made_now = true;
    *ret = made;
    return 0;
}

static void request_open(struct request *r) {
    r->key_path = client_certificate_path(r->options, ".key.tmp");
    r->name_path = client_certificate_path(r->options, ".csr.tmp");
}

int client_certificate_renew(struct kube_client *own, struct host *host,
                             const struct client_certificate_options *options,
                             struct client_certificate *ret, struct error *err) {
    _cleanup_(request_free) struct request r = {
        .client = own, .host = host, .options = options, .proves = !options->serves};

    request_open(&r);
    if (make_new(&r, ret, err) < 0)
        return -1;
    remove_temporary(&r);
    return 0;
}

int client_certificate_ensure(struct kube_client *bootstrap, struct host *host,
                              const struct client_certificate_options *options,
                              struct client_certificate *ret, struct error *err) {
    _cleanup_(request_free) struct request r = {
        .client = bootstrap, .host = host, .options = options};
    struct error why = {0};
    int result = 0;

    request_open(&r);
    if (client_certificate_load(host, options, ret, &why) < 0) {
        log_message(LOG_RETRY, "%s", why.message);
        result = make_new(&r, ret, err);
    } else {
        result = client_certificate_relink(host, options, ret, err);
        if (result < 0)
            client_certificate_free(ret);
    }
    if (result == 0)
        remove_temporary(&r);
    return result;
}
