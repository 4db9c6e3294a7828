/* Has cleanup functions for OpenSSL, its error queue, and parsers of its objects. For pki/ only. */
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include "base/error.h"

/* Cleanup functions for _cleanup_. */
void EVP_PKEY_freep(EVP_PKEY **key);
void X509_REQ_freep(X509_REQ **request);

/* Sets the error "what: reason" with the newest reason from OpenSSL's error queue, and empties the
 * queue. Returns -1. */
int openssl_error(struct error *err, enum error_kind kind, const char *what);
/* Password callback that never supplies a password, so that OpenSSL never asks the user. */
int openssl_no_password(char *buffer, int size, int writing, void *context);

/* Returns a name in the form of RFC 2253: "CN=kubernetes,O=system:nodes". The caller frees it. */
char *openssl_name_text(const X509_NAME *name);
/* Reads the private key in a PEM text; NULL with ERROR_MALFORMED on failure. The caller owns it. */
EVP_PKEY *openssl_read_key(const char *pem, struct error *err);
/* Reads all certificates of a PEM text by the rules of certificates_parse(). NULL with
 * ERROR_MALFORMED on failure. Free the result with X509_stack_freep(). */
STACK_OF(X509) * openssl_read_chain(const char *pem, size_t len, struct error *err);
void X509_stack_freep(STACK_OF(X509) * *stack);
/* Returns the content of a memory BIO as text and frees the BIO. The caller frees the text. */
char *openssl_take_bio(BIO *bio);
