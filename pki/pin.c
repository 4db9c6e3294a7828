/* Public key pins, "sha256:<hex>" over the SubjectPublicKeyInfo (RFC 7469 section 2.4). */
#include "pki/pin.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { DIGEST_LEN = 32 };

int pin_parse(const char *text, char ret[PIN_TEXT_MAX], struct error *err) {
    static const char prefix[] = "invalid discovery token CA certificate hash";
    const char *colon = strchr(text, ':'), *hex = colon ? colon + 1 : NULL;
    _cleanup_(freep) char *format = NULL, *lower = NULL;

    if (!colon || strchr(hex, ':'))
        return error_set(
            err, ERROR_USAGE,
            "%s: invalid hash \"%.80s\", expected \"format:hex-value\". Known format(s) "
            "are: sha256",
            prefix, text);
    format = xstrndup(text, (size_t)(colon - text));
    if (!text_equal_nocase(format, "sha256"))
        return error_set(err, ERROR_USAGE,
                         "%s: unknown hash format \"%.80s\". Known format(s) are: sha256", prefix,
                         format);
    if (strlen(hex) / 2 != DIGEST_LEN)
        return error_set(err, ERROR_USAGE,
                         "%s: invalid hash \"%.160s\", expected a 32 byte SHA-256 hash, found %zu "
                         "bytes",
                         prefix, text, strlen(hex) / 2);
    lower = text_lower(hex);
    if (strlen(hex) != (size_t)DIGEST_LEN * 2 || strspn(lower, "0123456789abcdef") != strlen(hex))
        return error_set(err, ERROR_USAGE,
                         "%s: invalid hash \"%.160s\", could not decode SHA-256 from hex", prefix,
                         text);
    return text_format(ret, PIN_TEXT_MAX, "sha256:%s", lower);
}

int pins_parse(const struct text_list *texts, struct text_list *ret, struct error *err) {
    struct text_list pins = {0};
    char pin[PIN_TEXT_MAX];

    for (size_t i = 0; texts && i < texts->count; i++) {
        if (pin_parse(texts->items[i], pin, err) < 0) {
            text_list_free(&pins);
            return -1;
        }
        if (!text_list_has(&pins, pin))
            text_list_add(&pins, pin);
    }
    *ret = pins;
    return 0;
}

void pin_of_key(const void *spki, size_t len, char ret[PIN_TEXT_MAX]) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned digest_len = 0;
    struct text t = {0};

    if (!EVP_Digest(spki, len, digest, &digest_len, EVP_sha256(), NULL))
        abort(); /* SHA-256 is always there */
    text_add(&t, "sha256:");
    for (unsigned i = 0; i < digest_len; i++)
        text_addf(&t, "%02x", digest[i]);
    (void)text_format(ret, PIN_TEXT_MAX, "%s", text_str(&t)); /* 71 bytes fit */
    text_free(&t);
}
