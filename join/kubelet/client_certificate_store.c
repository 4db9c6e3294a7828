/* The kubelet's folder of certificates: what is stored, and storing (client-go's FileStore). */
#include "join/kubelet/client_certificate_store.h"

#include "base/rfc3339.h"
#include "join/kubelet/kubelet_files.h"
#include "pki/certificate.h"

#define CURRENT "-current.pem"

enum { FILE_MAX = 1024 * 1024 };

void client_certificate_free(struct client_certificate *c) {
    free(c->path);
    free(c->chain_pem);
    secret_free_text(c->key_pem);
    free(c->csr_name);
    free(c->reason);
    *c = (struct client_certificate){0};
}

char *client_certificate_path(const struct client_certificate_options *options,
                              const char *ending) {
    return xasprintf("%s\\%s%s", options->folder ? options->folder : KUBELET_CERTIFICATE_FOLDER,
                     options->serves ? "kubelet-server" : "kubelet-client", ending);
}

/* The first certificate must be this node's; fills its dates. */
static int read_dates(const struct client_certificate_options *options, const char *chain_pem,
                      struct client_certificate *ret, struct certificates *all, struct error *err) {
    _cleanup_(freep) char *name = xasprintf("system:node:%s", options->node_name);
    const struct certificate *first;

    if (certificates_parse(chain_pem, strlen(chain_pem), all, err) < 0)
        return -1;
    first = &all->items[0];
    if (!text_equal(first->common_name, name) ||
        !text_list_has(&first->organizations, "system:nodes"))
        return error_set(err, ERROR_UNTRUSTED,
                         "the certificate is for \"%s\", not for \"CN=%s,O=system:nodes\"",
                         first->subject, name);
    ret->not_before = first->not_before;
    ret->not_after = first->not_after;
    return 0;
}

/* ---- what is stored ---- */

/* Cuts the text in two before its private key; false when it has none. */
static bool split(const char *text, struct client_certificate *ret) {
    for (const char *p = text; (p = strstr(p, "-----BEGIN ")) != NULL; p++) {
        const char *end = strchr(p, '\n'), *key = strstr(p, "PRIVATE KEY-----");

        if (!end || !key || key > end)
            continue;
        ret->chain_pem = xstrndup(text, (size_t)(p - text));
        ret->key_pem = xstrdup(p);
        return true;
    }
    return false;
}

static int check(struct host *host, const struct client_certificate_options *options,
                 struct client_certificate *c, struct error *err) {
    _cleanup_(certificates_free) struct certificates all = {0};
    int64_t now = host_now(host);

    if (read_dates(options, c->chain_pem, c, &all, err) < 0 ||
        certificate_check_dates(&all.items[0], now, err) < 0 ||
        certificate_check_key(c->chain_pem, c->key_pem, err) < 0)
        return -1;
    return options->ca_pem ? certificate_check_chain(c->chain_pem, options->ca_pem, false, now, err)
                           : 0;
}

int client_certificate_load(struct host *host, const struct client_certificate_options *options,
                            struct client_certificate *ret, struct error *err) {
    _cleanup_(freep) char *path = client_certificate_path(options, CURRENT);
    _cleanup_(secret_freep) char *text = NULL;
    _cleanup_(client_certificate_free) struct client_certificate c = {0};
    size_t len = 0;
    int result;

    if (host_refuse_stranger(host, path, err) < 0 ||
        host_read(host, path, FILE_MAX, &text, &len, err) < 0)
        return -1;
    result = split(text, &c) ? check(host, options, &c, err)
                             : error_set(err, ERROR_ABSENT, "it contains no private key");
    if (result < 0) {
        (void)error_as(err, ERROR_ABSENT); /* what is wrong with it does not matter to the caller */
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

    if (host_refuse_stranger(host, KUBELET_CLIENT_CERTIFICATE_FILE, NULL) < 0 ||
        host_read(host, KUBELET_CLIENT_CERTIFICATE_FILE, FILE_MAX, &pem, &len, NULL) < 0 ||
        certificates_parse(pem, len, &list, NULL) < 0)
        return NULL;
    return text_starts_with(list.items[0].common_name, prefix)
               ? xstrdup(list.items[0].common_name + strlen(prefix))
               : NULL;
}

/* ---- storing ---- */

/* kubelet-client-2026-11-21-10-00-04.pem; UTC, as nothing reads the date. */
static char *dated_path(const struct client_certificate_options *options, int64_t when) {
    _cleanup_(freep) char *name = NULL;
    char time[RFC3339_TEXT_MAX];

    rfc3339_format(when, time);
    for (char *p = time; *p; p++)
        if (*p == 'T' || *p == ':' || *p == 'Z')
            *p = *p == 'Z' ? '\0' : '-';
    name = xasprintf("-%s.pem", time);
    return client_certificate_path(options, name);
}

static int write_and_link(struct host *host, const struct client_certificate_options *options,
                          const char *path, const char *chain_pem, const char *key_pem,
                          struct error *err) {
    _cleanup_(freep) char *link = client_certificate_path(options, CURRENT);
    const char *end = text_ends_with(chain_pem, "\n") ? "" : "\n";
    _cleanup_(secret_freep) char *both = xasprintf("%s%s%s", chain_pem, end, key_pem);

    if (host_write(host, path, both, strlen(both), HOST_SECRET, err) < 0)
        return error_prefix(err, "store the certificate");
    if (host_link(host, link, path, err) == 0)
        return 0;
    (void)host_remove(host, path, NULL); /* nobody would find that key again */
    return error_prefix(err, "store the certificate");
}

int client_certificate_store(struct host *host, const struct client_certificate_options *options,
                             const char *chain_pem, const char *key_pem,
                             struct client_certificate *ret, struct error *err) {
    _cleanup_(freep) char *path = dated_path(options, host_now(host));
    _cleanup_(client_certificate_free) struct client_certificate c = {
        .chain_pem = certificates_plain(chain_pem, strlen(chain_pem), err),
        .key_pem = xstrdup(key_pem)};

    if (!c.chain_pem || check(host, options, &c, err) < 0 ||
        write_and_link(host, options, path, c.chain_pem, key_pem, err) < 0)
        return -1;
    c.path = take_ptr(path);
    *ret = take_struct(c);
    return 0;
}

int client_certificate_relink(struct host *host, const struct client_certificate_options *options,
                              const struct client_certificate *stored, struct error *err) {
    _cleanup_(freep) char *path = dated_path(options, stored->not_before);

    if (host_file_type(host, stored->path) == HOST_LINK)
        return 0;
    return write_and_link(host, options, path, stored->chain_pem, stored->key_pem, err);
}
