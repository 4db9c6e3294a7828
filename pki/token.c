/* Parses bootstrap tokens "abcdef.0123456789abcdef" (a public id and a secret) and makes and
 * verifies signatures with them. */
#include "pki/token.h"

#include <string.h>

#include <openssl/hmac.h>

#include "base/base64.h"
#include "base/log.h"
#include "base/text.h"

static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz0123456789";

int token_parse(const char *text, struct token *ret, struct error *err) {
    const char *form = "it must be 6 characters, a dot and 16 characters of [a-z0-9]";
    const char *dot = strchr(text, '.');

    if (strlen(text) == TOKEN_TEXT_LEN && strspn(text, alphabet) >= TOKEN_ID_LEN &&
        text[TOKEN_ID_LEN] == '.' &&
        strspn(text + TOKEN_ID_LEN + 1, alphabet) >= TOKEN_SECRET_LEN) {
        memcpy(ret->id, text, TOKEN_ID_LEN);
        ret->id[TOKEN_ID_LEN] = '\0';
        memcpy(ret->secret, text + TOKEN_ID_LEN + 1, TOKEN_SECRET_LEN + 1);
        log_hide_secret(ret->secret);
        return 0;
    }
    /* Explain the mistake without showing the text: it may be a token with a typing error. */
    if (!*text)
        return error_set(err, ERROR_USAGE, "check the bootstrap token: it is empty; %s", form);
    if (strpbrk(text, " \t\r\n"))
        return error_set(err, ERROR_USAGE, "check the bootstrap token: it contains a space; %s",
                         form);
    if (strpbrk(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
        return error_set(err, ERROR_USAGE,
                         "check the bootstrap token: it contains upper-case letters; %s", form);
    if (!dot)
        return error_set(err, ERROR_USAGE, "check the bootstrap token: it has no dot; %s", form);
    if (dot - text != TOKEN_ID_LEN || strlen(dot + 1) != TOKEN_SECRET_LEN)
        return error_set(
            err, ERROR_USAGE,
            "check the bootstrap token: it has %zu and %zu characters around the dot; %s",
            (size_t)(dot - text), strlen(dot + 1), form);
    return error_set(err, ERROR_USAGE,
                     "check the bootstrap token: it contains a character that is not allowed; %s",
                     form);
}

void token_clear(struct token *token) {
    volatile char *p = (volatile char *)token;

    for (size_t i = 0; i < sizeof *token; i++)
        p[i] = 0;
}

bool token_id_is_valid(const char *id) {
    return strlen(id) == TOKEN_ID_LEN && strspn(id, alphabet) >= TOKEN_ID_LEN;
}

/* ---- signatures ---- */

enum { SIGNING_INPUT_MAX = 64 * 1024 * 1024 };

char *jws_make(const char *key_id, const char *secret, const void *payload, size_t len) {
    _cleanup_(text_free) struct text header = {0}, input = {.cap = SIGNING_INPUT_MAX};
    _cleanup_(freep) char *head = NULL, *body = base64url_encode(payload, len), *sign = NULL;
    unsigned char mac[EVP_MAX_MD_SIZE];
    unsigned mac_len = 0;

    text_addf(&header, "{\"alg\":\"HS256\",\"kid\":\"%s\"}", key_id);
    head = base64url_encode(text_str(&header), header.len);
    text_addf(&input, "%s.%s", head, body);
    /* HMAC() needs a secret pointer that is not NULL, also for an empty secret. */
    if (input.overflow || !HMAC(EVP_sha256(), secret, (int)strlen(secret),
                                (const unsigned char *)text_str(&input), input.len, mac, &mac_len))
        /* HMAC() cannot fail here: payloads are small, and SHA-256 is always available. */
        abort();
    sign = base64url_encode(mac, mac_len);
    return xasprintf("%s..%s", head, sign);
}

int jws_verify(const char *jws, const char *key_id, const char *secret, const void *payload,
               size_t len, struct error *err) {
    _cleanup_(freep) char *expected = jws_make(key_id, secret, payload, len);

    if (text_equal_secret(jws, strlen(jws), expected, strlen(expected)))
        return 0;
    return error_set(err, ERROR_UNTRUSTED,
                     "verify the signature for token id \"%s\": it does not match the content and "
                     "the token's secret",
                     key_id);
}
