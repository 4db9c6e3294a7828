/* What the files of pki/ share about OpenSSL: owners, its error queue, reading of its objects. Not
 * for other folders. */
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include "base/error.h"

/* For _cleanup_. */
void EVP_PKEY_freep(EVP_PKEY **key);
void X509_REQ_freep(X509_REQ **request);

/* error_set with the newest reason of OpenSSL's queue behind it; it is emptied. Returns -1. */
int openssl_error(struct error *err, enum error_kind kind, const char *what);
/* Answers every question for a password with none, so that nothing ever prompts. */
int openssl_no_password(char *buffer, int size, int writing, void *context);

/* "CN=kubernetes,O=system:nodes", RFC 2253; the caller frees. */
char *openssl_name_text(const X509_NAME *name);
/* The key in a PEM text; NULL with ERROR_MALFORMED. The caller owns it. */
EVP_PKEY *openssl_read_key(const char *pem, struct error *err);
/* All certificates of a PEM text by the rules of certificates_parse. NULL with ERROR_MALFORMED;
 * free with OSSL_STACK_OF_X509_free (sk_X509_pop_free). */
STACK_OF(X509) * openssl_read_chain(const char *pem, size_t len, struct error *err);
void X509_stack_freep(STACK_OF(X509) * *stack);
/* What was written to a memory BIO, as text; frees the BIO. The caller frees the text. */
char *openssl_take_bio(BIO *bio);
