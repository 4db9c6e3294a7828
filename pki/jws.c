/* Detached JSON web signatures as kubeadm puts in cluster-info (RFC 7515 appendix F, HS256). */
#include "pki/jws.h"

#include <openssl/hmac.h>

#include "base/base64.h"
#include "base/text.h"

enum { SIGNING_INPUT_MAX = 64 * 1024 * 1024 };

char *jws_make(const char *key_id, const char *secret, const void *payload, size_t len) {
    _cleanup_(text_free) struct text header = {0}, input = {.cap = SIGNING_INPUT_MAX};
    _cleanup_(freep) char *head = NULL, *body = base64url_encode(payload, len), *sign = NULL;
    unsigned char mac[EVP_MAX_MD_SIZE];
    unsigned mac_len = 0;

    text_addf(&header, "{\"alg\":\"HS256\",\"kid\":\"%s\"}", key_id);
    head = base64url_encode(text_str(&header), header.len);
    text_addf(&input, "%s.%s", head, body);
    /* An empty secret needs a pointer that is not NULL, which text has. */
    if (input.overflow || !HMAC(EVP_sha256(), secret, (int)strlen(secret),
                                (const unsigned char *)text_str(&input), input.len, mac, &mac_len))
        abort(); /* payloads are bounded far below, and SHA-256 is always there */
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
