/* Detached JSON web signatures as kubeadm puts in cluster-info (RFC 7515 appendix F, HS256). */
#pragma once

#include <stddef.h>

#include "base/error.h"

/* B64U({"alg":"HS256","kid":"<key_id>"}) + ".." + B64U(HMAC-SHA256(secret, header.payload)); the
 * payload stays outside. An empty secret is allowed. The caller frees. */
char *jws_make(const char *key_id, const char *secret, const void *payload, size_t len);
/* Makes the signature again and compares the whole text in constant time, as kubeadm does: another
 * order of members, padding or a newline is a failure too. ERROR_UNTRUSTED. */
int jws_verify(const char *jws, const char *key_id, const char *secret, const void *payload,
               size_t len, struct error *err);
