/* The catalog: which release has a program, in which version, and where the release and its digest
 * are. winjoin's own is templates/catalog.yaml; a file of the same form can replace it. */
#pragma once

#include "base/json.h"
#include "base/yaml.h"
#include "pki/digest.h"
#include "services/artifacts/artifacts.h"
#include "services/artifacts/mirror.h"

#define CATALOG_V1ALPHA1 "winjoin.io/v1alpha1"
#define CATALOG_KIND "Catalog"
extern const struct yaml_field catalog_fields[]; /* The fields of a catalog. */

struct catalog; /* Freed with catalog_freep(). */
/* Reads a catalog, YAML or JSON, strictly; text NULL means winjoin's own. `what` names it in
 * errors. Fails with ERROR_USAGE (a field, a program that no node has, a program twice, an unusable
 * version, path or placeholder, a release without a digest) or ERROR_MALFORMED. */
int catalog_read(const char *text, size_t len, const char *what, struct catalog **ret,
                 struct error *err);
void catalog_freep(struct catalog **catalog);
/* Sets where this version of the artifact is published: path, digest, and its member in an archive.
 * Returns false when it is not published. */
bool catalog_locate(const struct catalog *catalog, struct artifact *artifact);
/* Makes artifacts of those `names` that are published, for a node of this Kubernetes version
 * ("v1.37.1"). sha256 is "" and size 0 until an artifact is read. Free with artifacts_free(). */
void catalog_artifacts(const struct catalog *catalog, const char *kubernetes_version,
                       const struct text_list *names, struct artifacts *ret);

/* Says which versions of a node's programs work together: a table whose rows name their sources.
 * Preflight, the phase `artifacts`, capabilities and bundle use it. Pure. */

struct compatible {
    const char *program; /* Name of an artifact, or "pause", the sandbox image. */
    unsigned from, to;   /* Minor versions of Kubernetes [from, to]; 0 means no limit. */
    unsigned build;      /* The row applies from this Windows build on; 0 means all builds. */
    /* For example "2.4.0 2.3.1": allowed is any version from the first on, and for every further
     * one its MAJOR.MINOR from that patch on. */
    const char *versions;
    const char *why, *source;
};
/* Returns the first row whose condition this version ("v2.4.2", or what `containerd --version`
 * prints) does not meet, with a kubelet of version `kubernetes` (NULL when not known) on this build
 * of Windows (0 when not known). NULL when it meets all, or is no version. */
const struct compatible *compatible_breach(const char *program, const char *version,
                                           const char *kubernetes, unsigned build);
/* Describes the unmet row in one sentence. The caller frees it. */
char *compatible_message(const struct compatible *row, const char *version);
/* Returns the sandbox image that fits this Kubernetes version and Windows build; `repository` NULL
 * means upstream's. The caller frees it. */
char *sandbox_image(const char *repository, const char *kubernetes, unsigned build);
/* Returns the rows for this build (0 means all):
 * [{program,kubernetes?,windowsBuild?,versions,why,source}]. New reference. */
json_t *compatible_json(unsigned build);

/* Upstream releases that the catalog names. They are fetched and compared with their published
 * digests. A join opens them as a bundle (bundle_open_upstream()); only its preflight calls
 * upstream_check(), with the bundle's mirror and artifacts. */

/* Fetches the wanted artifacts (one flag each) at the same time, and each archive once for all its
 * members. The published digests are fetched first and compared. Where artifact->sha256 is already
 * known, the caller compares instead. ret and ret_len have one entry for each artifact; results are
 * NUL-terminated, and the caller frees them, also after a failure. Fails as mirror_fetch_all(), or
 * with ERROR_UNTRUSTED (another digest, a dangerous archive), ERROR_ABSENT (no such member),
 * ERROR_MALFORMED. */
int upstream_fetch(const struct mirror *from, const struct artifacts *artifacts, const bool *wanted,
                   char **ret, size_t *ret_len, struct error *err);
/* Fetches only the published digest of each artifact, to check that this version exists. Fails as
 * upstream_fetch(). */
int upstream_check(const struct mirror *from, const struct artifacts *artifacts, struct error *err);
/* Sets the published SHA-256 of each artifact, none of which may be a member of an archive. Each is
 * requested once, all at the same time. A digest that cannot be fetched stays "". Fails with
 * ERROR_INTERRUPTED. */
int upstream_ask_digests(const struct mirror *from, struct artifacts *artifacts, struct error *err);

/* Finds the digest of `file` in what upstream publishes: a single hex digest, lines "HEX  FILE"
 * (sha256sum), or GitHub's document of a release (REST API, "Get a release by tag name":
 * assets[].digest). Fails with ERROR_MALFORMED for other texts, ERROR_ABSENT when the file has no
 * digest there. */
int upstream_digest_read(const char *text, size_t len, const char *file, char ret[DIGEST_TEXT_MAX],
                         struct error *err);
