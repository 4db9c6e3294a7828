/* Private keys: EC P-256, as the kubelet makes them. */
#include "pki/key.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "pki/der.h"
#include "pki/openssl.h"
#include "pki/pem.h"

int key_generate(char **ret_pem, struct error *err) {
    _cleanup_(EVP_PKEY_freep) EVP_PKEY *key = EVP_EC_gen("P-256");
    BIO *bio;
    char *data = NULL;
    long len;

    if (!key)
        return openssl_error(err, ERROR_HOST, "make a private key");
    bio = BIO_new(BIO_s_secmem());
    if (!bio || !PEM_write_bio_PrivateKey_traditional(bio, key, NULL, NULL, 0, NULL, NULL)) {
        BIO_free(bio);
        return openssl_error(err, ERROR_HOST, "write a private key");
    }
    len = BIO_get_mem_data(bio, &data);
    *ret_pem = xstrndup(data, (size_t)len);
    BIO_free(bio); /* a secure memory BIO clears what it held */
    return 0;
}

static EVP_PKEY *read_block(const struct pem_block *block) {
    BIO *bio = der_why_bad(block->der, block->der_len) ? NULL : BIO_new(BIO_s_secmem());
    EVP_PKEY *key = NULL;

    if (bio && PEM_write_bio(bio, block->type, "", block->der, (long)block->der_len))
        key = PEM_read_bio_PrivateKey(bio, NULL, openssl_no_password, NULL);
    BIO_free(bio);
    return key;
}

/* The first block that says so is the key, as for Go's crypto/tls: OpenSSL looks for one that it
 * can read. */
EVP_PKEY *openssl_read_key(const char *pem, struct error *err) {
    struct pem_block block;
    EVP_PKEY *key = NULL;
    size_t offset = 0;
    bool found = false;

    while (!found && pem_next(pem, strlen(pem), &offset, &block)) {
        found = text_ends_with(block.type, "PRIVATE KEY");
        if (found)
            key = read_block(&block);
        secret_free((char *)block.der, block.der_len);
    }
    if (!found)
        (void)error_set(err, ERROR_MALFORMED, "read a private key: there is none");
    else if (!key) /* the caller sees NULL */
        (void)openssl_error(err, ERROR_MALFORMED, "read a private key");
    return key;
}

int key_check(const char *pem, struct error *err) {
    _cleanup_(EVP_PKEY_freep) EVP_PKEY *key = openssl_read_key(pem, err);

    return key ? 0 : -1;
}
