/* Digests (FIPS 180-4): SHA-256 for checksums of files, SHA-1 for the WebSocket handshake (RFC
 * 6455). Pins of public keys: "sha256:<hex>" over the SubjectPublicKeyInfo (RFC 7469 section 2.4).
 */
#pragma once

#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

enum { DIGEST_TEXT_MAX = 65 }; /* 64 lower-case hex digits and a NUL. */

/* Writes the digest of the data as lower-case hex. Never fails. */
void digest_sha256(const void *data, size_t len, char out[DIGEST_TEXT_MAX]);

/* Compute a SHA-256 digest of data that comes in pieces. digest_end() writes it to `out` (NULL when
 * it is not needed) and frees it; digest_end(NULL) does nothing. */
struct digest;
struct digest *digest_begin(void);
void digest_add(struct digest *digest, const void *data, size_t len);
void digest_end(struct digest *digest, char out[DIGEST_TEXT_MAX]);

enum { DIGEST_SHA1_LEN = 20 };
void digest_sha1(const void *data, size_t len, unsigned char out[DIGEST_SHA1_LEN]);

enum { PIN_TEXT_MAX = 72 }; /* "sha256:", 64 digits and a NUL. */

/* Parses one pin and converts it to lower case; both "sha256" and the hex digits may be in any
 * case. Fails with ERROR_USAGE, `read pin "...": why`. */
int pin_parse(const char *text, char ret[PIN_TEXT_MAX], struct error *err);
/* Parses a list of pins into a list in lower case without duplicates. One bad pin fails all. *ret
 * must be empty. */
int pins_parse(const struct text_list *texts, struct text_list *ret, struct error *err);
/* Computes the pin of a DER SubjectPublicKeyInfo. */
void pin_of_key(const void *spki, size_t len, char ret[PIN_TEXT_MAX]);
