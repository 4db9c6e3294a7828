/* Digests (FIPS 180-4): SHA-256 for checksums of files, SHA-1 for what
 * a WebSocket begins with (RFC 6455); and pins of public keys, "sha256:<hex>" over the
 * SubjectPublicKeyInfo (RFC 7469 section 2.4). */
#pragma once

#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

enum { DIGEST_TEXT_MAX = 65 }; /* 64 lower-case hex digits + NUL */

/* The digest as lower-case hex. Never fails. */
void digest_sha256(const void *data, size_t len, char out[DIGEST_TEXT_MAX]);

/* The same of what comes in pieces. digest_end() fills `out` (NULL: it is not wanted) and frees;
 * digest_end(NULL) does nothing. */
struct digest;
struct digest *digest_begin(void);
void digest_add(struct digest *digest, const void *data, size_t len);
void digest_end(struct digest *digest, char out[DIGEST_TEXT_MAX]);

enum { DIGEST_SHA1_LEN = 20 };
void digest_sha1(const void *data, size_t len, unsigned char out[DIGEST_SHA1_LEN]);

enum { PIN_TEXT_MAX = 72 }; /* "sha256:" + 64 digits + NUL */

/* One pin, made lower case: the format's name is compared without case, hex of either case. Fails
 * with ERROR_USAGE, `read pin "...": why`. */
int pin_parse(const char *text, char ret[PIN_TEXT_MAX], struct error *err);
/* All of them, normalised and without doubles; one bad pin fails all. *ret must be empty. */
int pins_parse(const struct text_list *texts, struct text_list *ret, struct error *err);
/* The pin of a DER SubjectPublicKeyInfo. */
void pin_of_key(const void *spki, size_t len, char ret[PIN_TEXT_MAX]);
