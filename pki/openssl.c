/* Has cleanup functions for OpenSSL, reads its error queue, and parses its objects. */
#include "pki/openssl.h"

#include <openssl/err.h>
#include <openssl/pem.h>

#include "pki/certificate.h"

void EVP_PKEY_freep(EVP_PKEY **key) {
    EVP_PKEY_free(*key);
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

char *openssl_name_text(const X509_NAME *name) {
    BIO *bio = BIO_new(BIO_s_mem());

    if (!bio)
        abort(); /* BIO_new() fails only when memory is exhausted. */
    (void)X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
    return openssl_take_bio(bio);
}

int openssl_no_password(char *, int, int, void *) {
    return 0; /* A length of 0 means that there is no password. */
}

/* Reads the certificates of a PEM text. Ignores other blocks and text; damaged ones are errors. */
STACK_OF(X509) * openssl_read_chain(const char *pem, size_t len, struct error *err) {
    _cleanup_(X509_stack_freep) STACK_OF(X509) *stack = sk_X509_new_null();
    BIO *bio = BIO_new_mem_buf(pem, (int)len);
    char *name = NULL, *header = NULL;
    unsigned char *der = NULL;
    int result = 0;
    long size = 0;

    if (!bio || !stack)
        abort();       /* OpenSSL fails to create a BIO or a list only when memory is exhausted. */
    ERR_clear_error(); /* An older error in the queue would look like the end of the text. */
    while (result == 0 && PEM_read_bio(bio, &name, &header, &der, &size)) {
        const unsigned char *at = der;

        if (text_equal(name, PEM_STRING_X509) && !*header) {
            X509 *certificate = d2i_X509(NULL, &at, size);

            if (!certificate)
                result = openssl_error(err, ERROR_MALFORMED, "read a certificate");
            else if (!sk_X509_push(stack, certificate))
                abort();               /* Memory is exhausted. */
            else if (at != der + size) /* kubelet could not read a file with such a certificate. */
                result =
                    error_set(err, ERROR_MALFORMED, "read a certificate: extra data follows it");
            else if (sk_X509_num(stack) > CERTIFICATES_MAX)
                result =
                    error_set(err, ERROR_MALFORMED, "read certificates: more than %d in one bundle",
                              CERTIFICATES_MAX);
        }
        OPENSSL_free(name);
        OPENSSL_free(header);
        OPENSSL_clear_free(der, (size_t)size); /* The block may be a private key. */
    }
    if (result == 0 && !ERR_peek_last_error())
        result = error_set(err, ERROR_MALFORMED, "read a certificate: empty block");
    else if (result == 0 && ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE)
        result = openssl_error(err, ERROR_MALFORMED, "read certificates");
    ERR_clear_error();
    BIO_free(bio);
    if (result == 0 && sk_X509_num(stack) == 0)
        result = error_set(err, ERROR_MALFORMED,
                           "data does not contain any valid RSA or ECDSA certificates");
    return result < 0 ? NULL : take_ptr(stack);
}

char *openssl_take_bio(BIO *bio) {
    char *data = NULL, *text;
    long len = BIO_get_mem_data(bio, &data);

    text = xstrndup(data ? data : "", len > 0 ? (size_t)len : 0);
    BIO_free(bio);
    return text;
}
