/* The programs of a node: from a bundle (a folder, .zip or mirror with its lock file), verified,
 * unpacked. */
#pragma once

#include "services/artifacts/mirror.h"
#include "services/service_table.h"

#define ARTIFACT_LOCK_NAME "winjoin.lock"
#define ARTIFACT_IMAGE "pause" /* the sandbox image (services/artifacts/image.h): no program */
#define ARTIFACT_IMAGE_FILE "C:\\k\\pause.tar"
enum {
    ARTIFACTS_MAX = 64,
    ARTIFACT_SIZE_MAX = 512 * 1024 * 1024, /* one file */
    BUNDLE_SIZE_MAX = 1024 * 1024 * 1024,
};

/* One file of the lock. artifacts_free(). */
struct artifact {
    char *name;      /* "kubelet" */
    char *version;   /* "v1.37.1" */
    char sha256[65]; /* lower-case hex; "": of upstream, not read yet */
    uint64_t size;   /* 0: not known */
    char *path;      /* within the bundle, with '/': "k/kubelet.exe"; of upstream "HOST/PATH" */
    char *digest;    /* of upstream: where its SHA-256 is, "HOST/PATH"; or NULL */
    char *member;    /* of upstream: its path in the archive that this is, or NULL */
    char *target;    /* on the node: "C:\\k\\kubelet.exe" */
};
struct artifacts {
    struct artifact *items;
    size_t count;
};
void artifact_free(struct artifact *artifact);
void artifacts_free(struct artifacts *artifacts);
/* By name; NULL: it is not there, or there are none (NULL). */
const struct artifact *artifact_find(const struct artifacts *artifacts, const char *name);

/* What a node may need and where it goes: the services' programs, then what belongs to them. */
struct artifact_target {
    const char *name;              /* "kubelet", "containerd-shim-runhcs-v1", "win-overlay", ... */
    const char *target;            /* "C:\\k\\kubelet.exe" */
    bool required;                 /* by every node */
    const struct service *service; /* whose program it is, or NULL */
};
/* The i-th; false behind the last. */
bool artifact_target_at(size_t i, struct artifact_target *ret);
/* By name; false when there is none. */
bool artifact_target_find(const char *name, struct artifact_target *ret);
/* Where a node's own containerd decides it (services/containerd_settings.h). */
struct artifact_places {
    const char *cni_folder; /* of CNI's programs; NULL: CNI_BIN_DIR */
    bool keeps_containerd;  /* the one that is here stays: its programs go nowhere */
};
/* Where a target goes on such a node (NULL: as the table says); NULL: nowhere. The caller frees. */
char *artifact_place(const struct artifact_places *places, const char *target);
/* How to come by a program that winjoin's own catalog does not have, because nobody publishes a
 * release of it with a digest; NULL: it is not one of those. */
const char *artifact_origin(const char *name);

/* The lock file, YAML or JSON, strict (no unknown keys, no name, path or target twice):
 *   {"apiVersion":"winjoin.io/v1alpha1","kind":"BundleLock",
 *    "artifacts":[{"name","version","sha256","size","path"[,"target"]}]
 *    [,"images":[{"name","sha256","size","path"}]]}
 * A name of the target table needs no target. Images have the version "image", and no target;
 * ret_images NULL: they are passed over. Kinds: ERROR_MALFORMED; ERROR_UNTRUSTED for a path
 * that leaves the bundle (absolute, "..", drive, backslash) or a target outside C:\k,
 * C:\opt\cni\bin and C:\Program Files\containerd. */
int artifact_lock_parse(const char *text, size_t len, struct artifacts *ret,
                        struct artifacts *ret_images, struct error *err);
/* As a version of a lock: at most 64 letters, digits and ._-+ (NULL is none). */
bool artifact_version_is_usable(const char *version);
/* The lock's text, for bundle create; `images` may be NULL. The caller frees. */
char *artifact_lock_make(const struct artifacts *artifacts, const struct artifacts *images);

/* An opened bundle. */
struct bundle;
/* `path`: a folder or a .zip with ARTIFACT_LOCK_NAME at its top. Read through `host`. `lock`: the
 * lock file that counts instead, or NULL. Kinds: ERROR_ABSENT, ERROR_MALFORMED (no archive,
 * truncated), ERROR_UNTRUSTED (hostile entries: path traversal, absolute, links, devices, too
 * large, listed twice). */
int bundle_open(struct host *host, const char *path, const char *lock, struct bundle **ret,
                struct error *err);
/* The same from a mirror: its lock is fetched, unless one is given, and of the artifacts those that
 * are asked for, once; they stay in memory. `mirror` is copied, its host, http and context are
 * borrowed. Kinds: also those of mirror_fetch_all(). */
int bundle_open_mirror(const struct mirror *mirror, const char *lock, struct bundle **ret,
                       struct error *err);
/* Which of upstream's releases. */
struct bundle_choice {
    const char *kubernetes_version; /* "v1.37.1" */
    const char
        *catalog;     /* a file instead of winjoin's own (services/artifacts/catalog.h), or NULL */
    const char *lock; /* a file: what it says of them counts, or NULL */
};
/* Upstream's own releases as a bundle (services/artifacts/catalog.h): of `names` what is
 * published. `from`: as for bundle_open_mirror(), redirects are followed; its url is NULL or a
 * proxy of the hosts, "URL/HOST/PATH". Nothing but the files of the choice is read yet. Reading an
 * artifact proves it by the lock's digest or the published one, and then fills in its sha256 and
 * size. Kinds: those of the lock and of catalog_read(). */
int bundle_open_upstream(const struct mirror *from, const struct text_list *names,
                         const struct bundle_choice *choice, struct bundle **ret,
                         struct error *err);
/* Of `names` those that this machine has in the version that their files say, and that upstream
 * publishes as files of their own, with the SHA-256 published there: one request each. "": it
 * cannot be had. artifacts_free(). `from` and `catalog` as above. Kinds: those of catalog_read(),
 * ERROR_INTERRUPTED. */
int artifacts_published(const struct mirror *from, const struct text_list *names,
                        const char *catalog, struct artifacts *ret, struct error *err);
/* Sets the artifacts' targets for the node, and leaves out those that go nowhere. The same again
 * changes nothing. */
void bundle_place(struct bundle *bundle, const struct artifact_places *places);
bool bundle_is_upstream(const struct bundle *bundle);
/* NULL when it is none: then reading an artifact costs no request. */
const struct mirror *bundle_mirror(const struct bundle *bundle);
/* Frees a bundle, or nothing where the pointer is NULL. */
void bundle_freep(struct bundle **ptr);
const struct artifacts *bundle_artifacts(const struct bundle *bundle);
/* Images of one's own that it brings, as archives for `ctr images import`; without a bundle (NULL)
 * none. */
const struct artifacts *bundle_images(const struct bundle *bundle);
/* Copies one of them to `to`, piece by piece (HOST_PUBLIC); what is there already of a mirror's is
 * gone on with. Proved, else ERROR_UNTRUSTED, and the file is removed. `to` NULL: proved alone, of
 * a folder or .zip. */
int bundle_image_copy(struct bundle *bundle, const struct artifact *image, const char *to,
                      struct error *err);
/* The first megabytes of an artifact or image, which nobody has proved: for a look at what it is.
 * The caller frees. Kinds: those of host_read_part() and mirror_fetch_all(). */
int bundle_head(struct bundle *bundle, const struct artifact *artifact, char **ret, size_t *ret_len,
                struct error *err);
/* The SHA-256 and the size of a file of any size; `to`: a copy of it is made, or NULL. */
int artifact_digest_file(struct host *host, const char *path, const char *to,
                         char sha256[DIGEST_TEXT_MAX], uint64_t *ret_size, struct error *err);
/* Content of an artifact, its size and checksum proved (else ERROR_UNTRUSTED). The caller frees. */
int bundle_read(struct bundle *bundle, const struct artifact *artifact, char **ret, size_t *ret_len,
                struct error *err);
/* The same for the last time: what was fetched is handed over, not copied. */
int bundle_take(struct bundle *bundle, const struct artifact *artifact, char **ret, size_t *ret_len,
                struct error *err);
/* Proves the artifacts of these names (NULL: all of the bundle) without touching the node; of a
 * mirror and of upstream's they are fetched together. */
int bundle_verify(struct bundle *bundle, const struct text_list *only, struct error *err);
/* ERROR_UNTRUSTED: the archive has a file that its lock does not name. A folder may have others. */
int bundle_check_closed(const struct bundle *bundle, struct error *err);

/* Whether the node has just this where it goes, and nobody but an administrator can have put it
 * there (host/host.h): else it is written again. */
int artifact_is_installed(struct host *host, const struct artifact *artifact, bool *ret_same,
                          struct error *err);
/* Told before a target is written, so that the caller can keep what stood there (replaces true); -1
 * stops. */
typedef int artifact_before(void *context, const struct artifact *artifact, bool replaces,
                            struct error *err);
struct artifacts_result {
    size_t present, installed; /* installed counts replaced ones too */
    uint64_t bytes;            /* written */
};
/* Fetches what artifacts_ensure() will install, where it has to be fetched. */
int artifacts_fetch(struct host *host, struct bundle *bundle, struct error *err);
/* Writes what is missing or different on the node, all of it verified before the first is written;
 * equal ones (by checksum) stay, and are not asked of the bundle. `only` (NULL = all): names to
 * install. before may be NULL. */
int artifacts_ensure(struct host *host, struct bundle *bundle, const struct text_list *only,
                     artifact_before *before, void *context, struct artifacts_result *ret,
                     struct error *err);
/* Writes a file that may be a program which runs: Windows writes over none and removes none, but
 * lets it be renamed. Such a one is moved to "PATH.old" (or .old1 ..., where an older one still
 * runs). Kinds: those of host_write(). */
int program_write(struct host *host, const char *path, const void *data, size_t len,
                  enum host_access access, struct error *err);
/* Removes those that no longer run. */
void program_remove_old(struct host *host, const char *path);
/* Names that a node with these choices needs and that neither the lock (NULL allowed) nor the node
 * (NULL: nothing is asked of one) has; a program that a stranger put there is not the node's.
 * `places` may be NULL. `cni_type`: the CNI plugin, `ipam`: the program that it asks for addresses;
 * NULL: none is needed.
 */
int artifacts_missing(struct host *host, const struct artifacts *lock,
                      const struct artifact_places *places, const char *cni_type, const char *ipam,
                      const struct service_choice *choice, struct text_list *ret,
                      struct error *err);
/* `artifacts` of a JoinPlan: [{name,version[,url],sha256,path}]; url of a mirror's (or NULL). New
 * reference. */
json_t *artifacts_json(const struct artifacts *artifacts, const struct mirror *mirror);

/* bundle create: packs the files of a folder that the target table knows by file name (kubelet.exe,
 * ...) with a lock into one .zip. Each must be a Windows program; its version is read from it
 * (services/artifacts/program_image.h), "unknown" when it has none. `versions` (or NULL) maps
 * artifact name to the version that counts instead. Kinds: ERROR_USAGE for a name or version in
 * `versions` that cannot be, ERROR_MALFORMED for a file that is no Windows program, ERROR_ABSENT.
 */
int bundle_create(struct host *host, const char *folder, const char *zip_path,
                  const json_t *versions, struct artifacts *ret, struct error *err);
/* The images of a bundle. */
struct bundle_wants {
    const char *sandbox;            /* "registry.k8s.io/pause:3.10.2", or NULL */
    const struct text_list *images; /* of one's own */
    unsigned build;                 /* of Windows; 0: each */
    const struct mirror *from;
};
/* The same of all that an open bundle has, each proved, and of the sandbox image. With images of
 * one's own `path` is a folder: they are too large for a .zip. It has its lock when it is whole;
 * the same call goes on with what is there of them. The same bytes for the same programs. Kinds:
 * those of bundle_read(), image_fetch() and ERROR_MALFORMED. */
int bundle_create_from(struct host *host, struct bundle *bundle, const struct bundle_wants *wants,
                       const char *path, struct artifacts *ret, struct artifacts *ret_images,
                       struct error *err);
