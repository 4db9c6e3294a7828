/* Digests of a whole piece of data (FIPS 180-4): SHA-256 for checksums of files, SHA-1 for what
 * a WebSocket begins with (RFC 6455). */
#pragma once

#include <stddef.h>

enum { DIGEST_TEXT_MAX = 65 }; /* 64 lower-case hex digits + NUL */

/* The digest as lower-case hex. Never fails. */
void digest_sha256(const void *data, size_t len, char out[DIGEST_TEXT_MAX]);

enum { DIGEST_SHA1_LEN = 20 };
void digest_sha1(const void *data, size_t len, unsigned char out[DIGEST_SHA1_LEN]);
