/* Requests the node's certificates with a key that is made here, and stores them as the kubelet
 * does (client-go's FileStore). */
#include "join/kubelet/client_certificate.h"

#include "base/log.h"
#include "base/rfc3339.h"
#include "join/kubelet/kubelet_files.h"
#include "kube/node.h"
#include "pki/certificate.h"

#define CURRENT "-current.pem"
#define KEY_FILE ".key.tmp"
#define NAME_FILE ".csr.tmp"

enum { FILE_MAX = 1024 * 1024 };

void client_certificate_free(struct client_certificate *c) {
    free(c->path);
    free(c->chain_pem);
    secret_free_text(c->key_pem);
    free(c->csr_name);
    free(c->reason);
    *c = (struct client_certificate){0};
}

/* Returns the path of a certificate file: the folder, "kubelet-client" or "kubelet-server", and
 * this ending. The caller frees the path. */
static char *certificate_path(const struct client_certificate_options *options,
                              const char *ending) {
    return xasprintf("%s\\%s%s", options->folder ? options->folder : KUBELET_CERTIFICATE_FOLDER,
                     options->serves ? "kubelet-server" : "kubelet-client", ending);
}

/* ---- stored certificates ---- */

/* Checks that the first certificate is for this node and key, and valid now. Sets its dates. */
static int check(struct host *host, const struct client_certificate_options *options,
                 struct client_certificate *c, struct error *err) {
    _cleanup_(freep) char *name = xasprintf("system:node:%s", options->node_name);
    _cleanup_(certificates_free) struct certificates all = {0};
    const struct certificate *first;
    int64_t now = host_now(host);

    if (certificates_parse(c->chain_pem, strlen(c->chain_pem), &all, err) < 0)
        return -1;
    first = &all.items[0];
    if (!text_equal(first->common_name, name) ||
        !text_list_has(&first->organizations, "system:nodes"))
        return error_set(err, ERROR_UNTRUSTED,
                         "the certificate is for \"%s\", not for \"CN=%s,O=system:nodes\"",
                         first->subject, name);
    c->not_before = first->not_before;
    c->not_after = first->not_after;
    if (certificate_check_dates(first, now, err) < 0 ||
        certificate_check_key(c->chain_pem, c->key_pem, err) < 0)
        return -1;
    return options->ca_pem ? certificate_check_chain(c->chain_pem, options->ca_pem, false, now, err)
                           : 0;
}

int client_certificate_load(struct host *host, const struct client_certificate_options *options,
                            struct client_certificate *ret, struct error *err) {
    _cleanup_(freep) char *path = certificate_path(options, CURRENT);
    _cleanup_(secret_freep) char *text = NULL;
    _cleanup_(client_certificate_free) struct client_certificate c = {0};
    size_t len = 0;
    int result;

    if (host_refuse_untrusted(host, path, err) < 0 ||
        host_read(host, path, FILE_MAX, &text, &len, err) < 0)
        return -1;
    /* The file holds the chain, then the private key. It is split between them. */
    for (const char *p = text; !c.key_pem && (p = strstr(p, "-----BEGIN ")); p++) {
        const char *end = strchr(p, '\n'), *key = strstr(p, "PRIVATE KEY-----");

        if (end && key && key < end) {
            c.chain_pem = xstrndup(text, (size_t)(p - text));
            c.key_pem = xstrdup(p);
        }
    }
    result = c.key_pem ? check(host, options, &c, err)
                       : error_set(err, ERROR_ABSENT, "it contains no private key");
    if (result < 0) {
        /* The caller only needs to know that there is no usable certificate. */
        (void)error_as(err, ERROR_ABSENT);
        return error_prefix(err, "certificate file '%s'", path);
    }
    c.path = take_ptr(path);
    *ret = take_struct(c);
    return 0;
}

char *client_certificate_node(struct host *host) {
    static const char prefix[] = "system:node:";
    _cleanup_(secret_freep) char *pem = NULL;
    _cleanup_(certificates_free) struct certificates list = {0};
    size_t len;

    if (host_refuse_untrusted(host, KUBELET_CLIENT_CERTIFICATE_FILE, NULL) < 0 ||
        host_read(host, KUBELET_CLIENT_CERTIFICATE_FILE, FILE_MAX, &pem, &len, NULL) < 0 ||
        certificates_parse(pem, len, &list, NULL) < 0)
        return NULL;
    return text_starts_with(list.items[0].common_name, prefix)
               ? xstrdup(list.items[0].common_name + strlen(prefix))
               : NULL;
}

/* ---- storing of a certificate ---- */

/* Returns the path ".../kubelet-client-2026-11-21-10-00-04.pem" with a time in UTC. No program
 * reads this time. The caller frees the path. */
static char *dated_path(const struct client_certificate_options *options, int64_t when) {
    _cleanup_(freep) char *name = NULL;
    char time[RFC3339_TEXT_MAX];

    rfc3339_format(when, time);
    for (char *p = time; *p; p++)
        if (*p == 'T' || *p == ':' || *p == 'Z')
            *p = *p == 'Z' ? '\0' : '-';
    name = xasprintf("-%s.pem", time);
    return certificate_path(options, name);
}

static int write_and_link(struct host *host, const struct client_certificate_options *options,
                          const char *path, const char *chain_pem, const char *key_pem,
                          struct error *err) {
    _cleanup_(freep) char *link = certificate_path(options, CURRENT);
    const char *end = text_ends_with(chain_pem, "\n") ? "" : "\n";
    _cleanup_(secret_freep) char *both = xasprintf("%s%s%s", chain_pem, end, key_pem);

    if (host_write(host, path, both, strlen(both), HOST_SECRET, err) < 0)
        return error_prefix(err, "store the certificate");
    if (host_link(host, link, path, err) == 0)
        return 0;
    /* Nothing refers to this file, so its key must not stay. */
    (void)host_remove(host, path, NULL);
    return error_prefix(err, "store the certificate");
}

enum { SMALL_FILE_MAX = 64 * 1024 };

/* The state of client_certificate_ensure() or client_certificate_make(). */
struct request {
    struct kube_client *client;
    struct host *host;
    const struct client_certificate_options *options;
    char *key_path, *name_path; /* Paths of the two temporary files. */
    char *key_pem;
    struct kube_csr csr;
};

static void request_free(struct request *r) {
    free(r->key_path);
    free(r->name_path);
    secret_free_text(r->key_pem);
    kube_csr_free(&r->csr);
}

/* ---- the certificate request ---- */

/* Looks for the request of an earlier run, whose name and uid are in a file, one per line. Returns
 * 1 when it can be used again, 0 when a new one is needed, -1 on failure. */
static int find_earlier(struct request *r, struct error *err) {
    const struct kube_csr *csr = &r->csr;
    _cleanup_(certificates_free) struct certificates issued = {0};
    _cleanup_(text_list_free) struct text_list lines = {0};
    _cleanup_(freep) char *text = NULL;
    struct error why = {0};
    size_t len = 0;

    if (host_read(r->host, r->name_path, SMALL_FILE_MAX, &text, &len, NULL) < 0)
        return 0;
    text_list_split(&lines, text, '\n');
    if (lines.count != 2)
        return 0;
    if (kube_csr_get(r->client, lines.items[0], &r->csr, &why) < 0) {
        if (why.kind == ERROR_ABSENT || why.kind == ERROR_DENIED || why.kind == ERROR_MALFORMED)
            return 0;
        return error_pass(err, &why);
    }
    /* An issued certificate that has expired or cannot be parsed is of no use. */
    if (text_equal(csr->uid, lines.items[1]) && !kube_csr_is_refused(csr) && csr->request_pem &&
        csr_is_ours(csr->request_pem, r->key_pem, r->options->node_name) &&
        (!csr->certificate_pem ||
         (certificates_parse(csr->certificate_pem, strlen(csr->certificate_pem), &issued, NULL) ==
              0 &&
          certificate_check_dates(&issued.items[0], host_now(r->host), NULL) == 0)))
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

/* Writes chain and key to kubelet-client-<date>.pem (serving certificate:
 * kubelet-server-<date>.pem) and makes kubelet-client-current.pem a link to it. The chain's first
 * certificate must be for this node and this key, valid now, and signed by the cluster's CA if that
 * is known (ERROR_UNTRUSTED, ERROR_MALFORMED). Other texts in the chain are left out. After an
 * unusable certificate the request is forgotten, so that the next run sends a new one. */
static int store(struct request *r, struct client_certificate *ret, struct error *err) {
    const char *issued = r->csr.certificate_pem;
    _cleanup_(freep) char *path = dated_path(r->options, host_now(r->host));
    _cleanup_(client_certificate_free) struct client_certificate c = {
        .chain_pem = certificates_plain(issued, strlen(issued), NULL, err),
        .key_pem = xstrdup(r->key_pem)};

    if (c.chain_pem && check(r->host, r->options, &c, err) == 0 &&
        write_and_link(r->host, r->options, path, c.chain_pem, c.key_pem, err) == 0) {
        c.path = take_ptr(path);
        *ret = take_struct(c);
        return 0;
    }
    if (!err || err->kind == ERROR_UNTRUSTED || err->kind == ERROR_MALFORMED)
        /* If this file cannot be removed, the next run checks the request again. */
        (void)host_remove(r->host, r->name_path, NULL);
    if (err && err->kind == ERROR_UNTRUSTED)
        (void)error_hint(err, "check that the cluster's own CA signs certificates and that this "
                              "machine's clock is right; the next join sends a new request");
    return error_prefix(err, "use the certificate issued for certificate signing request \"%s\"",
                        r->csr.name);
}

/* ---- the whole procedure ---- */

static void remove_temporary(struct host *host, const struct client_certificate_options *options) {
    _cleanup_(freep) char *key_path = certificate_path(options, KEY_FILE),
                          *name_path = certificate_path(options, NAME_FILE);

    /* Files that cannot be removed are found and checked by the next run. */
    (void)host_remove(host, key_path, NULL);
    (void)host_remove(host, name_path, NULL);
}

int client_certificate_make(struct kube_client *client, struct host *host,
                            const struct client_certificate_options *o, bool proves,
                            struct client_certificate *ret, struct error *err) {
    _cleanup_(request_free) struct request r = {
        .client = client,
        .host = host,
        .options = o,
        .key_path = certificate_path(o, KEY_FILE),
        .name_path = certificate_path(o, NAME_FILE),
    };
    unsigned timeout_ms = o->timeout_ms ? o->timeout_ms : CLIENT_CERTIFICATE_TIMEOUT_MS;
    struct client_certificate made = {0};
    struct kube_csr issued = {0};
    size_t len = 0;

    /* Reuse the key that an earlier run left. */
    if (host_read(host, r.key_path, SMALL_FILE_MAX, &r.key_pem, &len, NULL) < 0 ||
        key_check(r.key_pem, NULL) < 0) {
        secret_free_text(take_ptr(r.key_pem));
        if (key_generate(&r.key_pem, err) < 0 ||
            host_write(host, r.key_path, r.key_pem, strlen(r.key_pem), HOST_SECRET, err) < 0)
            return -1;
    }
    if (ensure_request(&r, err) < 0 || kube_csr_wait(client, &r.csr, timeout_ms, o->progress,
                                                     o->progress_context, &issued, err) < 0)
        return -1;
    kube_csr_free(&r.csr);
    r.csr = issued;
    /* Ask the API server with the new certificate, whose parts are borrowed, whether it accepts the
     * certificate as this node's. */
    if (proves) {
        struct kube_client own = *client;
        _cleanup_(kube_node_free) struct kube_node node = {0};

        own.client_cert_pem = r.csr.certificate_pem;
        own.client_key_pem = r.key_pem;
        own.bearer_token = NULL;
        if (kube_node_get(&own, o->node_name, &node, err) < 0)
            return error_prefix(err, "use the new certificate");
    }
    if (store(&r, &made, err) < 0)
        return -1;
    made.csr_name = xstrdup(r.csr.name);
    made.reason = xstrdup(r.csr.reason);
    made.made_now = true;
    *ret = made;
    remove_temporary(host, o);
    return 0;
}

int client_certificate_ensure(struct kube_client *bootstrap, struct host *host,
                              const struct client_certificate_options *options,
                              struct client_certificate *ret, struct error *err) {
    _cleanup_(freep) char *path = NULL;
    struct error why = {0};

    if (client_certificate_load(host, options, ret, &why) < 0) {
        log_message(LOG_RETRY, "%s", why.message);
        return client_certificate_make(bootstrap, host, options, false, ret, err);
    }
    /* A folder that was copied or restored has a plain file kubelet-client-current.pem. The kubelet
     * reads it but refuses to rotate it (client-go: updateSymlink). It is replaced by a link to a
     * file that is named after the notBefore date of the stored certificate. */
    path = dated_path(options, ret->not_before);
    if (host_file_type(host, ret->path) != HOST_LINK &&
        write_and_link(host, options, path, ret->chain_pem, ret->key_pem, err) < 0) {
        client_certificate_free(ret);
        return -1;
    }
    remove_temporary(host, options);
    return 0;
}
