/* Bootstrap tokens: "abcdef.0123456789abcdef", an id that is not a secret and a secret that is;
 * and what is signed with them: detached JSON web signatures as kubeadm puts in cluster-info (RFC
 * 7515 appendix F, HS256). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { TOKEN_ID_LEN = 6, TOKEN_SECRET_LEN = 16, TOKEN_TEXT_LEN = 23 };

struct token {
    char id[TOKEN_ID_LEN + 1];
    char secret[TOKEN_SECRET_LEN + 1];
};

/* Takes exactly \A([a-z0-9]{6})\.([a-z0-9]{16})\z (k8s.io/cluster-bootstrap/token/api), nothing
 * trimmed. The secret and the whole token are hidden from the log from then on. The text never
 * appears in the error (ERROR_USAGE), which says instead what is wrong about it. */
int token_parse(const char *text, struct token *ret, struct error *err);
/* Overwrites it. */
void token_clear(struct token *token);
/* true for six of [a-z0-9]: the id in a "jws-kubeconfig-<id>" key. */
bool token_id_is_valid(const char *id);

/* B64U({"alg":"HS256","kid":"<key_id>"}) + ".." + B64U(HMAC-SHA256(secret, header.payload)); the
 * payload stays outside. An empty secret is allowed. The caller frees. */
char *jws_make(const char *key_id, const char *secret, const void *payload, size_t len);
/* Makes the signature again and compares the whole text in constant time, as kubeadm does: another
 * order of members, padding or a newline is a failure too. ERROR_UNTRUSTED. */
int jws_verify(const char *jws, const char *key_id, const char *secret, const void *payload,
               size_t len, struct error *err);
