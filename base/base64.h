/* Base64 with the standard and the URL alphabet (RFC 4648 sections 4 and 5). */
#pragma once

#include <stddef.h>

#include "base/error.h"

/* Standard alphabet with padding; the caller frees. */
char *base64_encode(const void *data, size_t len);
/* URL alphabet without padding; the caller frees. */
char *base64url_encode(const void *data, size_t len);
/* Decodes; CR and LF between characters are skipped as Go's decoder does. The caller frees *ret,
 * which is NUL-terminated behind its ret_len bytes. Fails with ERROR_MALFORMED. */
int base64_decode(const char *text, size_t len, unsigned char **ret, size_t *ret_len,
                  struct error *err);
