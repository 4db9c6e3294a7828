/* Container images of a registry (OCI distribution specification 1.1; Docker's registry API V2),
 * fetched without credentials, with an anonymous token where the registry asks for one
 * (services/artifacts/registry_token.h), and packed as one OCI archive for `ctr images import`. */
#pragma once

#include "services/artifacts/mirror.h"

/* Is it a reference like "HOST[:PORT]/NAME[:TAG][@DIGEST]" or "NAME:TAG", as a container runtime
 * reads it? Source: the grammar of distribution/reference (reference.go). */
bool image_is_reference(const char *text);

/* `reference`: "HOST/NAME[:TAG][@DIGEST]", a digest being held to. Of its index the images for
 * Windows on amd64 of this build (0: of each), or the one image that it is without an index, with
 * their layers, every one held to the SHA-256 by which the index names it; a layer that the
 * registry does not have is asked of the https address that the manifest has for it. Written to
 * `path`, piece by piece; what an earlier run has left of it there is gone on with, and a failure
 * leaves what has come. The same bytes for the same images. `from`: as for bundle_open_upstream().
 * Kinds: those of mirror_fetch_all(), registry_token_fetch() and host_write_part(), ERROR_ABSENT
 * (no image for that build), ERROR_UNTRUSTED (another digest or size), ERROR_MALFORMED (no index,
 * no manifest). */
int image_fetch(const struct mirror *from, const char *reference, unsigned build, const char *path,
                struct error *err);
/* What a registry says of an image, asked as above: for which builds it is, and how much there is
 * to download of it for one. image_facts_free(). */
struct image_facts {
    struct text_list versions; /* "os.version" of each image for Windows on amd64 that its index
                                  has ("10.0.20348.2340"); without an index none */
    uint64_t bytes;            /* of the layers for `build`, compressed; 0: not known */
};
/* `reference`: "HOST/NAME[:TAG][@DIGEST]". The index, and of an image for this build the manifest.
 * Kinds: those of mirror_fetch_all() and registry_token_fetch(), ERROR_MALFORMED. */
int image_look(const struct mirror *from, const char *reference, unsigned build,
               struct image_facts *ret, struct error *err);
void image_facts_free(struct image_facts *facts);
