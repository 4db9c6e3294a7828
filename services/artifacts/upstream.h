/* Upstream's own releases, which the catalog names (services/artifacts/catalog.h): fetched, and
 * held to their published digests. Inside services/: a join opens them as a bundle
 * (bundle_open_upstream). */
#pragma once

#include "pki/digest.h"
#include "services/artifacts/artifacts.h"
#include "services/artifacts/mirror.h"

/* Fetches those that are wanted (one flag each), at the same time, each archive once for all its
 * members. The published digests are fetched first and compared, but not where artifact->sha256 is
 * known already: then the caller compares. ret and ret_len have one entry each; what is filled in
 * is NUL-terminated and the caller's to free, also on failure. Kinds: those of mirror_fetch_all(),
 * ERROR_UNTRUSTED (another digest, a hostile archive), ERROR_ABSENT (no such member),
 * ERROR_MALFORMED. */
int upstream_fetch(const struct mirror *from, const struct artifacts *artifacts, const bool *wanted,
                   char **ret, size_t *ret_len, struct error *err);
/* Fetches the published digest of each alone: whether this version is there. The same kinds. */
int upstream_check(const struct mirror *from, const struct artifacts *artifacts, struct error *err);
/* Fills in the published SHA-256 of each, which is no member of an archive: one request each, not
 * repeated, at the same time. What cannot be had stays "". ERROR_INTERRUPTED. */
int upstream_ask_digests(const struct mirror *from, struct artifacts *artifacts, struct error *err);

/* The digest of `file` in what upstream publishes: one in hex, lines "HEX  FILE" (sha256sum), or
 * GitHub's document of a release (REST API, "Get a release by tag name": assets[].digest).
 * ERROR_MALFORMED when it is none of them, ERROR_ABSENT when it has none for the file. */
int upstream_digest_read(const char *text, size_t len, const char *file, char ret[DIGEST_TEXT_MAX],
                         struct error *err);
