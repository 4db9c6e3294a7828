/* Container images from a registry (OCI distribution specification 1.1; Docker's registry API V2).
 * They are fetched without credentials, with an anonymous token where the registry asks for one,
 * and packed as one OCI archive for `ctr images import`. */
#pragma once

#include "host/http.h"
#include "services/artifacts/mirror.h"

/* Is this a reference that a container runtime accepts, such as "HOST[:PORT]/NAME[:TAG][@DIGEST]"
 * or "NAME:TAG"? Source: the grammar of distribution/reference (reference.go). */
bool image_is_reference(const char *text);

/* Fetches the image `reference`, "HOST/NAME[:TAG][@DIGEST]"; a digest is verified. From its index
 * it takes the images for Windows on amd64 of this build (0 means all builds), or the single image
 * where there is no index, with all layers. Each part must have the SHA-256 by which the index
 * names it. A layer that the registry lacks is fetched from the https address in the manifest. The
 * archive is written to `path` in pieces; a partial file of an earlier run is continued, and after
 * a failure it stays. The same images give the same bytes. `from` is as for bundle_open_upstream().
 * Fails as mirror_fetch_all(), registry_token_fetch() and host_write_part(), or with ERROR_ABSENT
 * (no image for that build), ERROR_UNTRUSTED (another digest or size), ERROR_MALFORMED (no index,
 * no manifest). */
int image_fetch(const struct mirror *from, const char *reference, unsigned build, const char *path,
                struct error *err);
/* A layer of an image. */
struct image_layer {
    char sha256[DIGEST_TEXT_MAX];
    uint64_t size; /* Compressed size of the layer. */
};
/* Says which builds an image is for, and what has to be unpacked on one build. Free with
 * image_facts_free(). */
struct image_facts {
    /* The "os.version" ("10.0.20348.2340") of each image for Windows on amd64 in the index, or of
     * the single image. */
    struct text_list versions;
    bool runs; /* One of the images runs on the requested build. */
    /* The layers of the image that runs on the requested build, the base first. */
    struct image_layer *layers;
    size_t count; /* The number of layers. */
};
void image_facts_free(struct image_facts *facts);
/* Do containers of one build run on the kernel of another, and does containerd accept their image
 * there? From Windows Server 2022 on, images of older builds down to Server 2022 run, too. Source:
 * containerd's platforms (platform_windows_compat.go), Microsoft's "Windows container version
 * compatibility". */
bool image_build_runs(unsigned build, unsigned of_host);
/* Reads the part of an image that a descriptor names; `kind` is "manifests" or "blobs". */
typedef int image_read(void *context, const char *kind, const json_t *descriptor, json_t **ret,
                       struct error *err);
/* Reads the facts of an image. `top` is an index, or the manifest of a single image. Fails with
 * ERROR_MALFORMED, or as `read`. */
int image_facts_read(const json_t *top, unsigned build, image_read *read, void *context,
                     struct image_facts *ret, struct error *err);
/* Reads the facts of an image in a registry. `reference` is "HOST/NAME[:TAG][@DIGEST]". It fetches
 * the index and, for an image of this build, the manifest. Fails as image_facts_read(),
 * mirror_fetch_all() and registry_token_fetch(). */
int image_facts_of_registry(const struct mirror *from, const char *reference, unsigned build,
                            struct image_facts *ret, struct error *err);
/* Reads the facts of an image from an OCI archive. `data` is its start, where image_fetch() writes
 * index and manifests. Nothing is verified. Fails as image_facts_read(), or with ERROR_ABSENT when
 * they are not in `data`. */
int image_facts_of_archive(const char *data, size_t len, unsigned build, struct image_facts *ret,
                           struct error *err);
/* Is the platform, from an index or an image's configuration, Windows on amd64? */
bool image_is_windows(const json_t *platform);
/* Returns the build of a platform ("os.version"); 0 when unknown or not Windows on amd64. */
unsigned image_build(const json_t *platform);

/* Anonymous tokens of container registries: reads what a registry asks for when it answers 401, and
 * fetches a token for it (Docker Registry v2, "Token Authentication Specification"; RFC 6750). No
 * credentials are sent for that. */

/* What a registry asks for. A text that the registry does not give is NULL. Free with
 * registry_challenge_free(). */
struct registry_challenge {
    char *realm, *service, *scope;
};
/* Reads the first challenge "Bearer" with a realm from the text of a WWW-Authenticate header (RFC
 * 9110, 11.6.1). Returns false when there is none. Sends nothing. */
bool registry_challenge_read(const char *text, struct registry_challenge *ret);
void registry_challenge_free(struct registry_challenge *challenge);

/* Fetches a token to read the repository `name` ("pause") from the address in `challenge`, a
 * WWW-Authenticate header. Only https is used and redirects are not followed. The caller frees
 * *ret, a secret. Fails with ERROR_DENIED (no Bearer is asked for, or none is given without
 * credentials), ERROR_UNTRUSTED (an address that is not https or has a user), ERROR_MALFORMED (no
 * token in the answer, or one of more than 16 KiB), or as http_perform(). */
int registry_token_fetch(struct http *http, const char *challenge, const char *name, char **ret,
                         struct error *err);
