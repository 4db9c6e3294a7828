/* Container images of a registry (OCI distribution specification 1.1; Docker's registry API V2),
 * fetched without credentials, with an anonymous token where the registry asks for one, and packed
 * as one OCI archive for `ctr images import`. */
#pragma once

#include "host/http.h"
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
/* What an image is for, and what there is to unpack of it on one build. image_facts_free(). */
struct image_layer {
    char sha256[DIGEST_TEXT_MAX];
    uint64_t size; /* compressed */
};
struct image_facts {
    /* "os.version" of each image for Windows on amd64 that its index has ("10.0.20348.2340"), or
     * of the one that it is */
    struct text_list versions;
    bool runs; /* one of them runs on the build that was asked for */
    struct image_layer *layers;
    size_t count; /* of that one, the base first */
};
void image_facts_free(struct image_facts *facts);
/* Whether containers of one build run on another's kernel, and containerd takes their image there:
 * from Windows Server 2022 on also those of older builds down to 2022's. Source: containerd's
 * platforms (platform_windows_compat.go), Microsoft's "Windows container version compatibility". */
bool image_build_runs(unsigned build, unsigned of_host);
/* How the parts of an image are read, each by its descriptor; `kind`: "manifests" or "blobs". */
typedef int image_read(void *context, const char *kind, const json_t *descriptor, json_t **ret,
                       struct error *err);
/* `top`: an index, or the manifest of one image. Kinds: ERROR_MALFORMED, those of `read`. */
int image_facts_read(const json_t *top, unsigned build, image_read *read, void *context,
                     struct image_facts *ret, struct error *err);
/* As a registry has it. `reference`: "HOST/NAME[:TAG][@DIGEST]"; asked as above: the index, and of
 * an image for this build the manifest. Kinds: also those of mirror_fetch_all() and
 * registry_token_fetch(). */
int image_look(const struct mirror *from, const char *reference, unsigned build,
               struct image_facts *ret, struct error *err);
/* As an OCI archive has it: `data` is its beginning, where image_fetch() writes index and
 * manifests. Nothing of it is proved. Kinds: also ERROR_ABSENT (they are further behind). */
int image_archive_look(const char *data, size_t len, unsigned build, struct image_facts *ret,
                       struct error *err);
/* For Windows on amd64? Of a platform of an index, or an image's configuration. */
bool image_is_windows(const json_t *platform);
/* Its build ("os.version"); 0: not for Windows on amd64, or not known. */
unsigned image_build(const json_t *platform);

/* Anonymous tokens of container registries: what a registry that answers 401 asks for, and the
 * token got for it (Docker Registry v2, "Token Authentication Specification"; RFC 6750). No
 * credentials are sent to get one. */

/* Text is owned; NULL = not said. registry_challenge_free(). */
struct registry_challenge {
    char *realm, *service, *scope;
};
/* The first "Bearer" of WWW-Authenticate (RFC 9110, 11.6.1) that has a realm; false without one.
 * Pure. */
bool registry_challenge_read(const char *text, struct registry_challenge *ret);
void registry_challenge_free(struct registry_challenge *challenge);

/* A token to read the repository `name` ("pause"), from where `challenge`, a WWW-Authenticate,
 * says: by https alone, without following redirects. The caller frees *ret, a secret. Kinds:
 * ERROR_DENIED (no Bearer is asked for, or none is given without credentials), ERROR_UNTRUSTED (an
 * address that is not https, or has a user), ERROR_MALFORMED (no token in the answer, or one of
 * more than 16 KiB), those of http_perform(). */
int registry_token_fetch(struct http *http, const char *challenge, const char *name, char **ret,
                         struct error *err);
