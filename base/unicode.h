/* Texts as Windows' programs write them into files. */
#pragma once

#include <stddef.h>

#include "base/error.h"

/* Makes the text plain UTF-8 when a byte order mark is before it: UTF-16, little or big endian
 * (PowerShell 5.1's ">" and Out-File, Notepad's "Unicode"), or UTF-8 with a mark. Without a mark
 * the bytes stay. *text is owned by the caller, may be replaced and stays NUL-terminated behind
 * *len bytes; what is replaced is zeroed first. Half a character is ERROR_MALFORMED, and the text
 * stays. */
int unicode_to_utf8(char **text, size_t *len, struct error *err);
/* The same of any bytes, so that what they say can be looked through: UTF-16 without a mark counts
 * where it is plain to see, half a character becomes U+FFFD, and a zero that is left, as of a text
 * that is UTF-16 in part, is taken out. */
void unicode_to_text(char **text, size_t *len);
