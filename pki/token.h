/* Bootstrap tokens "abcdef.0123456789abcdef" (a public id and a secret), and the signatures that
 * are made with them: detached JSON web signatures as kubeadm puts them into cluster-info (RFC 7515
 * appendix F, HS256). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { TOKEN_ID_LEN = 6, TOKEN_SECRET_LEN = 16, TOKEN_TEXT_LEN = 23 };

struct token {
    char id[TOKEN_ID_LEN + 1];
    char secret[TOKEN_SECRET_LEN + 1];
};

/* Parses a token that matches exactly \A([a-z0-9]{6})\.([a-z0-9]{16})\z
 * (k8s.io/cluster-bootstrap/token/api); blanks are not trimmed. From then on the log hides the
 * secret. Fails with ERROR_USAGE; the error never contains the text but says what is wrong with it.
 */
int token_parse(const char *text, struct token *ret, struct error *err);
/* Overwrites the token in memory. */
void token_clear(struct token *token);
/* Is this six characters of [a-z0-9], the id in a key "jws-kubeconfig-<id>"? */
bool token_id_is_valid(const char *id);

/* Makes a signature: B64U({"alg":"HS256","kid":"<key_id>"}) + ".." + B64U(HMAC-SHA256(secret,
 * header.payload)). The payload is not included. An empty secret is allowed. The caller frees it.
 */
char *jws_make(const char *key_id, const char *secret, const void *payload, size_t len);
/* Computes the signature again and compares the whole text in constant time, as kubeadm does. So
 * another order of members, padding or a newline is a failure too. Fails with ERROR_UNTRUSTED. */
int jws_verify(const char *jws, const char *key_id, const char *secret, const void *payload,
               size_t len, struct error *err);
