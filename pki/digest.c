/* Digests by OpenSSL. */
#include "pki/digest.h"

#include <openssl/sha.h>

void digest_sha256(const void *data, size_t len, char out[DIGEST_TEXT_MAX]) {
    static const char hex[] = "0123456789abcdef";
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA256((const unsigned char *)data, len, digest);
    for (size_t i = 0; i < sizeof(digest); i++) {
        out[2 * i] = hex[digest[i] >> 4];
        out[2 * i + 1] = hex[digest[i] & 15];
    }
    out[2 * sizeof(digest)] = '\0';
}

void digest_sha1(const void *data, size_t len, unsigned char out[DIGEST_SHA1_LEN]) {
    SHA1((const unsigned char *)data, len, out);
}
