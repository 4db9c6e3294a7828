/* Private keys: EC P-256, as the kubelet makes them. */
#include "pki/key.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "base/memory.h"
#include "pki/openssl.h"

int key_generate(char **ret_pem, struct error *err) {
    _cleanup_(EVP_PKEY_freep) EVP_PKEY *key = EVP_EC_gen("P-256");
    BIO *bio;

    if (!key)
        return openssl_error(err, ERROR_HOST, "make a private key");
    bio = BIO_new(BIO_s_secmem());
    if (!bio || !PEM_write_bio_PrivateKey_traditional(bio, key, NULL, NULL, 0, NULL, NULL)) {
        BIO_free(bio);
        return openssl_error(err, ERROR_HOST, "write a private key");
    }
    *ret_pem = openssl_take_bio(bio); /* a secure memory BIO clears what it held */
    return 0;
}

EVP_PKEY *openssl_read_key(const char *pem, struct error *err) {
    BIO *bio = BIO_new_mem_buf(pem, -1);
    EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, openssl_no_password, NULL) : NULL;

    BIO_free(bio);
    if (!key)
        (void)openssl_error(err, ERROR_MALFORMED, "read a private key"); /* the caller sees NULL */
    return key;
}

int key_check(const char *pem, struct error *err) {
    _cleanup_(EVP_PKEY_freep) EVP_PKEY *key = openssl_read_key(pem, err);

    return key ? 0 : -1;
}
