/* What the files of pki/ share about OpenSSL: owners, its error queue, reading of its objects. */
#include "pki/openssl.h"

#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "pki/certificate.h"
#include "pki/pem.h"

void EVP_PKEY_freep(EVP_PKEY **key) {
    EVP_PKEY_free(*key);
}

void X509_freep(X509 **certificate) {
    X509_free(*certificate);
}

void X509_REQ_freep(X509_REQ **request) {
    X509_REQ_free(*request);
}

void X509_stack_freep(STACK_OF(X509) * *stack) {
    sk_X509_pop_free(*stack, X509_free);
}

int openssl_error(struct error *err, enum error_kind kind, const char *what) {
    unsigned long code = ERR_peek_last_error();
    const char *reason = code ? ERR_reason_error_string(code) : NULL;

    (void)error_set(err, kind, "%s: %s", what, reason ? reason : "OpenSSL gives no reason");
    ERR_clear_error();
    return -1;
}

int openssl_no_password(char *buffer, int size, int writing, void *context) {
    (void)buffer, (void)size, (void)writing, (void)context; /* there is none to give */
    return 0;
}

X509 *openssl_read_certificate(const unsigned char **der, size_t len, struct error *err) {
    X509 *certificate = d2i_X509(NULL, der, (long)len);

    if (!certificate)
        (void)openssl_error(err, ERROR_MALFORMED, "read a certificate"); /* the caller sees NULL */
    return certificate;
}

static int add_block(STACK_OF(X509) * stack, const struct pem_block *block, struct error *err) {
    const unsigned char *at = block->der, *end = block->der + block->der_len;

    while (at < end) {
        X509 *certificate = openssl_read_certificate(&at, (size_t)(end - at), err);

        if (!certificate)
            return -1;
        if (!sk_X509_push(stack, certificate))
            abort(); /* out of memory */
        if (sk_X509_num(stack) > CERTIFICATES_MAX)
            return error_set(err, ERROR_MALFORMED, "read certificates: more than %d in one bundle",
                             CERTIFICATES_MAX);
    }
    return 0;
}

STACK_OF(X509) * openssl_read_chain(const char *pem, size_t len, struct error *err) {
    _cleanup_(X509_stack_freep) STACK_OF(X509) *stack = sk_X509_new_null();
    struct pem_block block;
    size_t offset = 0;

    while (pem_next(pem, len, &offset, &block)) {
        int result = 0;

        if (text_equal(block.type, "CERTIFICATE") && !block.has_headers)
            result = add_block(stack, &block, err);
        free(block.der);
        if (result < 0)
            return NULL;
    }
    if (sk_X509_num(stack) == 0) {
        (void)error_set(err, ERROR_MALFORMED,
                        "data does not contain any valid RSA or ECDSA certificates");
        return NULL;
    }
    return take_ptr(stack);
}
