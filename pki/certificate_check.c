/* X.509 certificates: whose key, and who signed whom. */
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include "base/cidr.h"
#include "pki/certificate.h"
#include "pki/openssl.h"

/* Do its two halves belong together? OpenSSL reads them one beside the other. */
static bool is_pair(EVP_PKEY *key) {
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(key, NULL);
    bool good;

    if (!context)
        abort(); /* out of memory */
    good = EVP_PKEY_pairwise_check(context) == 1;
    EVP_PKEY_CTX_free(context);
    ERR_clear_error();
    return good;
}

int certificate_check_key(const char *chain_pem, const char *key_pem, struct error *err) {
    _cleanup_(X509_stack_freep) STACK_OF(X509) *chain =
        openssl_read_chain(chain_pem, strlen(chain_pem), err);
    _cleanup_(EVP_PKEY_freep) EVP_PKEY *key = NULL;

    if (!chain)
        return -1;
    key = openssl_read_key(key_pem, err);
    if (!key)
        return -1;
    if (!is_pair(key))
        return error_set(err, ERROR_MALFORMED, "read a private key: invalid data");
    if (X509_check_private_key(sk_X509_value(chain, 0), key) != 1) {
        ERR_clear_error();
        return error_set(err, ERROR_UNTRUSTED,
                         "check the certificate: it does not match this node's key");
    }
    return 0;
}

static void fill_store(X509_STORE *store, STACK_OF(X509) * roots) {
    for (int i = 0; i < sk_X509_num(roots); i++)
        if (!X509_STORE_add_cert(store, sk_X509_value(roots, i)))
            abort(); /* out of memory: the same certificate twice is not a failure */
    (void)X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN); /* as Go: any root ends a chain */
}

int certificate_check_chain(const char *chain_pem, const char *ca_pem, bool for_server, int64_t now,
                            struct error *err) {
    _cleanup_(X509_stack_freep) STACK_OF(X509) *chain =
        openssl_read_chain(chain_pem, strlen(chain_pem), err);
    _cleanup_(X509_stack_freep) STACK_OF(X509) *roots =
        chain ? openssl_read_chain(ca_pem, strlen(ca_pem), err) : NULL;
    X509_STORE *store;
    X509_STORE_CTX *context;
    int result = 0;

    if (!roots)
        return -1;
    store = X509_STORE_new();
    context = X509_STORE_CTX_new();
    if (!store || !context)
        abort(); /* out of memory */
    fill_store(store, roots);
    if (!X509_STORE_CTX_init(context, store, sk_X509_value(chain, 0), chain))
        abort(); /* out of memory */
    if (now < 0)
        X509_STORE_CTX_set_flags(context, X509_V_FLAG_NO_CHECK_TIME);
    else
        X509_VERIFY_PARAM_set_time(X509_STORE_CTX_get0_param(context), (time_t)now);
    (void)X509_STORE_CTX_set_purpose(context, for_server ? X509_PURPOSE_SSL_SERVER
                                                         : X509_PURPOSE_SSL_CLIENT);
    if (X509_verify_cert(context) != 1)
        result = error_set(err, ERROR_UNTRUSTED, "check the certificate: %s",
                           X509_verify_cert_error_string(X509_STORE_CTX_get_error(context)));
    X509_STORE_CTX_free(context);
    X509_STORE_free(store);
    ERR_clear_error();
    return result;
}

bool certificate_covers(const char *chain_pem, const char *host) {
    _cleanup_(X509_stack_freep) STACK_OF(X509) *chain =
        openssl_read_chain(chain_pem, strlen(chain_pem), NULL);
    X509 *first = sk_X509_value(chain, 0);
    struct ip ip;
    int covered;

    if (!first)
        return false;
    if (ip_parse(host, &ip, NULL) == 0)
        covered = X509_check_ip(first, ip.bytes, ip.family == 4 ? 4 : 16, 0);
    else
        covered = *host != '.' && /* OpenSSL takes that for all names below */
                  X509_check_host(first, host, 0,
                                  X509_CHECK_FLAG_NEVER_CHECK_SUBJECT |
                                      X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS,
                                  NULL);
    ERR_clear_error();
    return covered == 1;
}
