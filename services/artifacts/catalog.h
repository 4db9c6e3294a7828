/* The catalog: which release has a program, in which version, where it and its digest are. The one
 * that winjoin brings is templates/catalog.yaml; a file of the same form may replace it. */
#pragma once

#include "base/json.h"
#include "base/yaml.h"
#include "pki/digest.h"
#include "services/artifacts/artifacts.h"
#include "services/artifacts/mirror.h"

#define CATALOG_V1ALPHA1 "winjoin.io/v1alpha1"
#define CATALOG_KIND "Catalog"
extern const struct yaml_field catalog_fields[]; /* what it may have */

struct catalog; /* catalog_freep() */
/* A catalog's text, YAML or JSON, strict; NULL: winjoin's own. `what` names it in messages. Kinds:
 * ERROR_USAGE (a field, a program that no node has, a program twice, an unusable version, path or
 * placeholder, a release without a digest), ERROR_MALFORMED. */
int catalog_read(const char *text, size_t len, const char *what, struct catalog **ret,
                 struct error *err);
void catalog_freep(struct catalog **catalog);
/* Fills in where this artifact is published in its version: path, digest, and member in an archive.
 * false: it is not. */
bool catalog_locate(const struct catalog *catalog, struct artifact *artifact);
/* Those of `names` that are published, for a node of this Kubernetes version ("v1.37.1"); sha256 ""
 * and size 0 are not known before it is read. artifacts_free(). */
void catalog_artifacts(const struct catalog *catalog, const char *kubernetes_version,
                       const struct text_list *names, struct artifacts *ret);

/* Which versions of a node's programs go together: a table of rows with their sources. Preflight,
 * the phase `programs`, capabilities and bundle read it. Pure. */

struct compatible {
    const char *program; /* name of an artifact, or "pause", the sandbox image */
    unsigned from, to;   /* minors of Kubernetes [from, to]; 0: no limit */
    unsigned build;      /* of Windows from which on it counts; 0: of each */
    /* "2.4.0 2.3.1": any newer than the first, and of each other MAJOR.MINOR that patch or a newer
     * one */
    const char *versions;
    const char *why, *source;
};
/* The first row that this version ("v2.4.2", or what `containerd --version` prints) does not meet,
 * with a kubelet of version `kubernetes` (NULL: not known) on this build of Windows (0: not known).
 * NULL: it meets all, or is no version. */
const struct compatible *compatible_breach(const char *program, const char *version,
                                           const char *kubernetes, unsigned build);
/* One sentence about it. The caller frees. */
char *compatible_message(const struct compatible *row, const char *version);
/* The sandbox image that fits both; `repository` NULL: upstream's. The caller frees. */
char *sandbox_image(const char *repository, const char *kubernetes, unsigned build);
/* [{program,kubernetes?,windowsBuild?,versions,why,source}] for this build (0: all), new reference.
 */
json_t *compatible_json(unsigned build);

/* Upstream's own releases, which the catalog names: fetched, and held to their published digests. A
 * join opens them as a bundle (bundle_open_upstream); its preflight alone calls upstream_check(),
 * with the bundle's mirror and artifacts. */

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
 * ERROR_MALFORMED for any other text, ERROR_ABSENT where the file has no digest there. */
int upstream_digest_read(const char *text, size_t len, const char *file, char ret[DIGEST_TEXT_MAX],
                         struct error *err);
