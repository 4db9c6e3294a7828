/* Private keys: EC P-256, as the kubelet makes them. */
#pragma once

#include "base/error.h"

/* A fresh key from OpenSSL's generator as PEM "EC PRIVATE KEY" (RFC 5915); secret_free_text().
 * Fails with ERROR_HOST when there is no randomness. */
int key_generate(char **ret_pem, struct error *err);
/* 0 when the text is one usable private key. ERROR_MALFORMED; the text is never in the error. */
int key_check(const char *pem, struct error *err);
