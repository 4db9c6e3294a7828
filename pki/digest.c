/* Computes digests with OpenSSL, and parses and makes pins. */
#include "pki/digest.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

/* Aborts when a digest function failed, which only happens without memory. */
static void must(int done) {
    if (!done)
        abort();
}

struct digest *digest_begin(void) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();

    must(context && EVP_DigestInit_ex(context, EVP_sha256(), NULL));
    return (struct digest *)context;
}

void digest_add(struct digest *digest, const void *data, size_t len) {
    must(EVP_DigestUpdate((EVP_MD_CTX *)digest, data, len));
}

void digest_end(struct digest *digest, char out[DIGEST_TEXT_MAX]) {
    static const char hex[] = "0123456789abcdef";
    unsigned char bytes[EVP_MAX_MD_SIZE];

    if (digest && out) {
        must(EVP_DigestFinal_ex((EVP_MD_CTX *)digest, bytes, NULL));
        for (size_t i = 0; i < SHA256_DIGEST_LENGTH; i++) {
            out[2 * i] = hex[bytes[i] >> 4];
            out[2 * i + 1] = hex[bytes[i] & 15];
        }
        out[DIGEST_TEXT_MAX - 1] = '\0';
    }
    EVP_MD_CTX_free((EVP_MD_CTX *)digest);
}

void digest_sha256(const void *data, size_t len, char out[DIGEST_TEXT_MAX]) {
    struct digest *digest = digest_begin();

    digest_add(digest, data, len);
    digest_end(digest, out);
}

void digest_sha1(const void *data, size_t len, unsigned char out[DIGEST_SHA1_LEN]) {
    SHA1((const unsigned char *)data, len, out);
}

/* ---- pins ---- */

int pin_parse(const char *text, char ret[PIN_TEXT_MAX], struct error *err) {
    _cleanup_(freep) char *lower = text_lower(text);
    bool named = text_starts_with(lower, "sha256:");
    const char *hex = lower + (named ? strlen("sha256:") : 0);
    bool whole = strlen(hex) == DIGEST_TEXT_MAX - 1 &&
                 strspn(hex, "0123456789abcdef") == DIGEST_TEXT_MAX - 1;

    if (named && whole)
        return text_format(ret, PIN_TEXT_MAX, "%s", lower);
    (void)error_set(err, ERROR_USAGE,
                    "read pin \"%.160s\": must be \"sha256:\" and 64 hexadecimal digits", text);
    if (strstr(hex, "sha256:"))
        return error_hint(err, "put a comma between two hashes, and no blank");
    if (strstr(lower, "fingerprint") || (hex[0] && hex[1] && hex[2] == ':'))
        return error_hint(err, "that is the fingerprint of a certificate; the hash of its public "
                               "key is wanted, which kubeadm prints");
    return whole ? error_hint(err, "write sha256:%s", hex) : -1;
}

int pins_parse(const struct text_list *texts, struct text_list *ret, struct error *err) {
    _cleanup_(text_list_free) struct text_list pins = {0};
    char pin[PIN_TEXT_MAX];

    for (size_t i = 0; texts && i < texts->count; i++) {
        if (pin_parse(texts->items[i], pin, err) < 0)
            return -1;
        if (!text_list_has(&pins, pin))
            text_list_add(&pins, pin);
    }
    *ret = take_struct(pins);
    return 0;
}

void pin_of_key(const void *spki, size_t len, char ret[PIN_TEXT_MAX]) {
    char digest[DIGEST_TEXT_MAX];

    digest_sha256(spki, len, digest);
    (void)text_format(ret, PIN_TEXT_MAX, "sha256:%s", digest); /* The 71 bytes fit. */
}
