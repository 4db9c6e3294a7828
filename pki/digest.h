/* SHA-256 of a whole piece of data, for checksums of files (FIPS 180-4). */
#ifndef PKI_DIGEST_H
#define PKI_DIGEST_H

#include <stddef.h>

enum { DIGEST_TEXT_MAX = 65 }; /* 64 lower-case hex digits + NUL */

/* The digest as lower-case hex. Never fails. */
void digest_sha256(const void *data, size_t len, char out[DIGEST_TEXT_MAX]);

#endif
