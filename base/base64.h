/* Encodes and decodes base64 with the standard and the URL alphabet (RFC 4648 sections 4 and 5).
 * The caller frees each char * that a function returns or stores through a pointer. */
#pragma once

#include <stddef.h>

#include "base/error.h"

/* Encodes bytes in the standard alphabet with padding. */
char *base64_encode(const void *data, size_t len);
/* Encodes bytes in the URL alphabet without padding. */
char *base64url_encode(const void *data, size_t len);
/* Decodes text in the standard alphabet. Skips CR and LF between characters, as Go's decoder does.
 * The caller frees *ret, which holds *ret_len bytes and a NUL behind them. Fails with
 * ERROR_MALFORMED. */
int base64_decode(const char *text, size_t len, unsigned char **ret, size_t *ret_len,
                  struct error *err);
