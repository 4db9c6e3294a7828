/* The certificate of hybrid-overlay-node. */
#include "tests/standins/hybrid-overlay-node/identity.h"

#include "base/base64.h"
#include "base/memory.h"
#include "base/text.h"
#include "pki/certificate.h"
#include "tests/standins/lib/klog.h"
#include "tests/standins/lib/lifetime.h"

#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>

#define REQUESTS "/apis/certificates.k8s.io/v1/certificatesigningrequests"
enum { WAIT_S = 120, DAY_S = 86400 };

static void name_entry(X509_NAME *name, const char *field, const char *value) {
    (void)X509_NAME_add_entry_by_txt(name, field, MBSTRING_ASC, (const unsigned char *)value, -1,
                                     -1, 0); /* no memory only */
}

static char *request_make(const char *key_pem, const char *node) {
    _cleanup_(freep) char *common_name = xasprintf("system:ovn-node:%s", node);
    BIO *in = BIO_new_mem_buf(key_pem, -1), *out = BIO_new(BIO_s_mem());
    EVP_PKEY *key = PEM_read_bio_PrivateKey(in, NULL, NULL, NULL);
    X509_REQ *request = X509_REQ_new();
    X509_NAME *subject = X509_NAME_new();
    char *data, *pem;
    long len;

    name_entry(subject, "O", "system:ovn-nodes");
    name_entry(subject, "CN", common_name);
    (void)X509_REQ_set_subject_name(request, subject); /* no memory only, as the next two */
    (void)X509_REQ_set_pubkey(request, key);
    (void)X509_REQ_sign(request, key, EVP_sha256());
    (void)PEM_write_bio_X509_REQ(out, request);
    len = BIO_get_mem_data(out, &data);
    pem = xstrndup(data, (size_t)len);
    X509_NAME_free(subject);
    X509_REQ_free(request);
    EVP_PKEY_free(key);
    BIO_free(in);
    BIO_free(out);
    return pem;
}

static int post(struct cluster *bootstrap, const char *node, const char *key, char **ret_name,
                struct error *err) {
    _cleanup_(freep) char *pem = request_make(key, node), *data = base64_encode(pem, strlen(pem));
    _cleanup_(json_decrefp_) json_t *made = NULL;
    _cleanup_(json_decrefp_) json_t *body = json_pack(
        "{s:s, s:s, s:{s:s}, s:{s:s, s:s, s:[s, s], s:i}}", "apiVersion", "certificates.k8s.io/v1",
        "kind", "CertificateSigningRequest", "metadata", "generateName", "csr-", "spec", "request",
        data, "signerName", "kubernetes.io/kube-apiserver-client", "usages", "digital signature",
        "client auth", "expirationSeconds", DAY_S);

    if (kube_create(&bootstrap->client, REQUESTS, body, &made, err))
        return -1;
    *ret_name = xstrdup(json_text_at(made, "metadata.name"));
    return 0;
}

static int await(struct cluster *bootstrap, const char *name, char **ret, struct error *err) {
    _cleanup_(freep) char *path = xasprintf(REQUESTS "/%s", name);

    for (int i = 0; i < WAIT_S * 2; i++) {
        _cleanup_(json_decrefp_) json_t *request = NULL;
        const char *certificate;
        size_t len;
        if (kube_get(&bootstrap->client, path, &request, err))
            return -1;
        certificate = json_text_at(request, "status.certificate");
        if (certificate) {
            unsigned char *pem;
            if (base64_decode(certificate, strlen(certificate), &pem, &len, err))
                return -1;
            *ret = xstrndup((char *)pem, len);
            free(pem);
            return 0;
        }
        if (lifetime_wait(500))
            break;
    }
    return error_set(err, ERROR_TIMED_OUT, "certificate was not signed");
}

int identity_get(struct cluster *bootstrap, const char *node, const char *folder, char **ret,
                 struct error *err) {
    _cleanup_(freep) char *current = xasprintf("%s\\ovnkube-client-current.pem", folder);
    _cleanup_(freep) char *config = xasprintf("%s\\standin.kubeconfig", folder);
    _cleanup_(freep) char *key = NULL, *name = NULL, *certificate = NULL, *pair = NULL;
    _cleanup_(freep) char *text = NULL;

    if (host_file_type(bootstrap->host, current) == HOST_ABSENT) {
        if (key_generate(&key, err) || post(bootstrap, node, key, &name, err))
            return -1;
        klog('I', "Waiting for certificate: %s", name);
        if (await(bootstrap, name, &certificate, err))
            return -1;
        pair = xasprintf("%s%s", certificate, key);
        if (host_write(bootstrap->host, current, pair, strlen(pair), HOST_SECRET, err))
            return -1;
    }
    text = kubeconfig_make_kubelet(bootstrap->client.server, bootstrap->client.ca_pem, current);
    if (host_write(bootstrap->host, config, text, strlen(text), HOST_SECRET, err))
        return -1;
    *ret = take_ptr(config);
    return 0;
}
