/* Container images of a registry (OCI distribution specification 1.1; Docker's registry API V2),
 * fetched without credentials, with an anonymous token where the registry asks for one
 * (services/artifacts/registry_token.h), and packed as one OCI archive for `ctr images import`. */
#pragma once

#include "services/artifacts/mirror.h"

/* Is it a reference like "HOST[:PORT]/NAME[:TAG][@DIGEST]" or "NAME:TAG", as a container runtime
 * reads it? Source: the grammar of distribution/reference (reference.go). */
bool image_is_reference(const char *text);

/* `reference`: "HOST/NAME:TAG". Of its index the images for Windows on amd64 of this build (0: of
 * each), with their layers, every one held to the SHA-256 by which the index names it; at most 1
 * GiB together. The same bytes for the same images. The caller frees *ret. `from`: as for
 * bundle_open_upstream(). Kinds: those of mirror_fetch_all() and registry_token_fetch(),
 * ERROR_ABSENT (no image for that build), ERROR_UNTRUSTED (another digest or size), ERROR_MALFORMED
 * (no index, no manifest), ERROR_UNSUPPORTED (layers that are not in the registry). */
int image_fetch(const struct mirror *from, const char *reference, unsigned build, char **ret,
                size_t *ret_len, struct error *err);
/* The "os.version" of each image for Windows on amd64 that the index of an image has
 * ("10.0.20348.2340"), asked of its registry as above. `reference`: "HOST/NAME[:TAG][@DIGEST]". An
 * image without an index says nothing of it: ERROR_MALFORMED. Kinds: those of mirror_fetch_all()
 * and registry_token_fetch(). */
int image_versions(const struct mirror *from, const char *reference, struct text_list *ret,
                   struct error *err);
