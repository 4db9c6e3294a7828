/* The programs of a node. They come from a bundle (a folder, .zip or mirror with its lock file),
 * are verified and unpacked. */
#pragma once

#include "services/artifacts/mirror.h"
#include "services/service_table.h"

#define ARTIFACT_LOCK_NAME "winjoin.lock"
#define ARTIFACT_IMAGE "pause" /* The sandbox image, which is no program. */
#define ARTIFACT_IMAGE_FILE "C:\\k\\pause.tar"
enum {
    ARTIFACTS_MAX = 64,
    ARTIFACT_SIZE_MAX = 512 * 1024 * 1024, /* The largest size of one file. */
    BUNDLE_SIZE_MAX = 1024 * 1024 * 1024,
};

/* One file of the lock. Free with artifact_free() or artifacts_free(). */
struct artifact {
    char *name;      /* Name, e.g. "kubelet". */
    char *version;   /* Version, e.g. "v1.37.1". */
    char sha256[65]; /* Digest in lower-case hex; "" when upstream's digest was not read yet. */
    uint64_t size;   /* Size in bytes; 0 when it is not known. */
    char *path;      /* Path in the bundle ("k/kubelet.exe"), or upstream's "HOST/PATH". */
    char *digest;    /* "HOST/PATH" of the SHA-256 that upstream publishes, or NULL. */
    char *member;    /* Path of the file inside upstream's archive `path`, or NULL. */
    char *target;    /* Path on the node, e.g. "C:\\k\\kubelet.exe". */
};
struct artifacts {
    struct artifact *items;
    size_t count;
};
void artifact_free(struct artifact *artifact);
void artifacts_free(struct artifacts *artifacts);
/* Finds an artifact by name. NULL when it is not in the list; `artifacts` may be NULL. */
const struct artifact *artifact_find(const struct artifacts *artifacts, const char *name);

/* A program that a node may need, and its path. First the programs of the services, then others. */
struct artifact_target {
    /* Name, e.g. "kubelet", "containerd-shim-runhcs-v1", "win-overlay". */
    const char *name;
    const char *target;            /* Path on the node, e.g. "C:\\k\\kubelet.exe". */
    bool required;                 /* Every node needs the program. */
    const struct service *service; /* The service that runs this program, or NULL. */
};
/* Gets the i-th row; returns false after the last. */
bool artifact_target_at(size_t i, struct artifact_target *ret);
/* Gets the row of this name; returns false when there is none. */
bool artifact_target_find(const char *name, struct artifact_target *ret);
/* Paths that depend on a node's own containerd (services/containerd_settings.h). */
struct artifact_places {
    const char *cni_folder; /* Folder of CNI programs; NULL means CNI_BIN_DIR. */
    bool keeps_containerd;  /* The installed containerd stays, so its programs are not installed. */
};
/* Returns the path of a target on a node with these places; `places` NULL means the table's path.
 * Returns NULL when the target is not installed at all. The caller frees the path. */
char *artifact_place(const struct artifact_places *places, const char *target);
/* Says where to get a program that is not in winjoin's catalog, because no release of it with a
 * digest is published. Returns NULL for any other program. */
const char *artifact_origin(const char *name);

/* Parses a lock file, YAML or JSON. It is strict: no unknown keys, no name, path or target twice.
 *
 * {"apiVersion":"winjoin.io/v1alpha1","kind":"BundleLock",
 * "artifacts":[{"name","version","sha256","size","path"[,"target"]}]
 * [,"images":[{"name","sha256","size","path"}]]}
 *
 * A name of the target table needs no target. Images get the version "image" and no target; they
 * are ignored when ret_images is NULL. Fails with ERROR_MALFORMED, or ERROR_UNTRUSTED for a path
 * that leaves the bundle (absolute, "..", drive, backslash) or a target outside of C:\k,
 * C:\opt\cni\bin and C:\Program Files\containerd. */
int artifact_lock_parse(const char *text, size_t len, struct artifacts *ret,
                        struct artifacts *ret_images, struct error *err);
/* Is this a valid version for a lock: 1 to 64 letters, digits and ._-+? NULL is not valid. */
bool artifact_version_is_usable(const char *version);
/* Makes the text of a lock for bundle create; `images` may be NULL. The caller frees the text. */
char *artifact_lock_make(const struct artifacts *artifacts, const struct artifacts *images);

/* An opened bundle; close it with bundle_freep(). */
struct bundle;
/* Opens a folder or .zip that has ARTIFACT_LOCK_NAME at its top; it is read through `host`. `lock`
 * is another lock file to use instead, or NULL. Fails with ERROR_USAGE (absent, no archive,
 * truncated), ERROR_UNTRUSTED (dangerous entries: path traversal, absolute, links, devices, too
 * large, listed twice), ERROR_UNSUPPORTED (a .zip whose lock names images of the user). */
int bundle_open(struct host *host, const char *path, const char *lock, struct bundle **ret,
                struct error *err);
/* Opens a bundle on a mirror. Fetches the lock unless one is given. Fetches only artifacts that are
 * asked for, each once, and keeps them in memory. Copies `mirror`; its host, http and context are
 * borrowed. Fails as bundle_open() and mirror_fetch_all(). */
int bundle_open_mirror(const struct mirror *mirror, const char *lock, struct bundle **ret,
                       struct error *err);
/* Says which of upstream's releases to use. */
struct bundle_choice {
    const char *kubernetes_version; /* Version of Kubernetes, e.g. "v1.37.1". */
    const char *catalog;            /* Catalog file (catalog.h); NULL means winjoin's own. */
    const char *lock;               /* A lock file that decides versions and digests; or NULL. */
};
/* Opens upstream's own releases as a bundle (services/artifacts/catalog.h), with those of `names`
 * that are published. `from` is as for bundle_open_mirror(), and redirects are followed; its url is
 * NULL or a proxy of the hosts, "URL/HOST/PATH". So far only the files of `choice` are read.
 * Reading an artifact later verifies it by the lock's or the published digest and sets its sha256
 * and size. Fails as the functions for the lock and as catalog_read(). */
int bundle_open_upstream(const struct mirror *from, const struct text_list *names,
                         const struct bundle_choice *choice, struct bundle **ret,
                         struct error *err);
/* Finds the programs of `names` that are on this machine in a version that upstream publishes as a
 * plain file (no archive), and sets their published SHA-256 by one request each; "" when it cannot
 * be fetched. Free with artifacts_free(). `from` and `catalog` are as for bundle_open_upstream().
 * Fails as catalog_read(), or with ERROR_INTERRUPTED. */
int artifacts_published(const struct mirror *from, const struct text_list *names,
                        const char *catalog, struct artifacts *ret, struct error *err);
/* Sets the targets of the artifacts for this node and removes artifacts that it does not install. A
 * second call changes nothing. */
void bundle_place(struct bundle *bundle, const struct artifact_places *places);
/* Was the bundle opened by bundle_open_upstream()? */
bool bundle_is_upstream(const struct bundle *bundle);
/* Returns the mirror of the bundle, or NULL: then reading an artifact needs no request. */
const struct mirror *bundle_mirror(const struct bundle *bundle);
/* Frees the bundle; a NULL pointer is allowed. */
void bundle_freep(struct bundle **ptr);
/* Returns the artifacts of the bundle, which owns them. */
const struct artifacts *bundle_artifacts(const struct bundle *bundle);
/* Returns the user's own images in the bundle, as archives for `ctr images import`. The bundle owns
 * them; `bundle` may be NULL. */
const struct artifacts *bundle_images(const struct bundle *bundle);
/* Copies an image to `to` in pieces (HOST_PUBLIC) and verifies it; on ERROR_UNTRUSTED the file is
 * removed. A partial file from a mirror is continued. With `to` NULL it only verifies the image of
 * a folder. */
int bundle_image_copy(struct bundle *bundle, const struct artifact *image, const char *to,
                      struct error *err);
/* Reads the first megabytes of an artifact or image, to see what it is. They are not verified. The
 * caller frees *ret. Fails as host_read_part() and mirror_fetch_all(). */
int bundle_head(struct bundle *bundle, const struct artifact *artifact, char **ret, size_t *ret_len,
                struct error *err);
/* Computes SHA-256 and size of a file of any size. `to` is the path for a copy, or NULL. Fails as
 * host_read_part() and host_write_part(), or with ERROR_INTERRUPTED. */
int artifact_digest_file(struct host *host, const char *path, const char *to,
                         char sha256[DIGEST_TEXT_MAX], uint64_t *ret_size, struct error *err);
/* Reads an artifact and verifies size and checksum (else ERROR_UNTRUSTED). free() *ret. */
int bundle_read(struct bundle *bundle, const struct artifact *artifact, char **ret, size_t *ret_len,
                struct error *err);
/* Does the same as bundle_read() for the last use of an artifact: the fetched content is handed
 * over instead of copied. */
int bundle_take(struct bundle *bundle, const struct artifact *artifact, char **ret, size_t *ret_len,
                struct error *err);
/* Verifies the artifacts of these names and changes nothing on the node. `only` NULL means all of
 * the bundle, with the images of a folder. The artifacts of a mirror or of upstream are fetched
 * together. Fails as bundle_read() and bundle_image_copy(). */
int bundle_verify(struct bundle *bundle, const struct text_list *only, struct error *err);
/* Fails with ERROR_UNTRUSTED when the .zip has a file that its lock does not name. A folder may
 * have other files. */
int bundle_check_closed(const struct bundle *bundle, struct error *err);

/* Does the node have exactly this artifact at its target, in a file that only an administrator can
 * have written (host/host.h)? If not, *ret_same is false and the artifact must be written again. */
int artifact_is_installed(struct host *host, const struct artifact *artifact, bool *ret_same,
                          struct error *err);
/* Called before a target is written, so that the caller can back up an existing file (`replaces` is
 * true). Returning -1 stops the installation. */
typedef int artifact_before(void *context, const struct artifact *artifact, bool replaces,
                            struct error *err);
struct artifacts_result {
    size_t present, installed; /* Counts of artifacts; `installed` includes replaced ones. */
    uint64_t bytes;            /* Bytes that were written. */
};
/* Fetches what artifacts_ensure() will install, if the bundle is on a mirror or upstream. Fails as
 * bundle_verify(). */
int artifacts_fetch(struct host *host, struct bundle *bundle, struct error *err);
/* Installs the artifacts that are missing or different on the node. All are verified before the
 * first is written. Artifacts with the same checksum stay and are not read from the bundle. `only`
 * has the names to install; NULL means all. `before` may be NULL. Fails as bundle_verify(),
 * `before` and host_write(), or with ERROR_HOST when drive C: has too little free space. */
int artifacts_ensure(struct host *host, struct bundle *bundle, const struct text_list *only,
                     artifact_before *before, void *context, struct artifacts_result *ret,
                     struct error *err);
/* Writes a file that may be a running program. Windows neither overwrites nor deletes a running
 * program, but lets it be renamed, so it is renamed to "PATH.old" (or .old1 ..., while an older one
 * still runs). Fails as host_write(). */
int program_write(struct host *host, const char *path, const void *data, size_t len,
                  enum host_access access, struct error *err);
/* Removes the renamed programs of `path` that no longer run. */
void program_remove_old(struct host *host, const char *path);
/* Adds to *ret the names of the programs that a node with these choices needs and that neither the
 * lock nor the node has. `lock` and `places` may be NULL; with `host` NULL no node is checked. A
 * program that an untrusted user put there does not count. `cni_type` is the CNI plugin and `ipam`
 * the program for its addresses; each is NULL when no such program is needed. Fails with
 * ERROR_USAGE for an unknown CNI plugin. */
int artifacts_missing(struct host *host, const struct artifacts *lock,
                      const struct artifact_places *places, const char *cni_type, const char *ipam,
                      const struct service_choice *choice, struct text_list *ret,
                      struct error *err);
/* Returns the `artifacts` of a JoinPlan: [{name,version[,url],sha256,path}]. They have the URLs of
 * `mirror`, unless that is NULL. New reference. */
json_t *artifacts_json(const struct artifacts *artifacts, const struct mirror *mirror);

/* For bundle create: packs the files of a folder whose names are in the target table (kubelet.exe,
 * ...) with a lock into one .zip. Each must be a Windows program; its version is read from the file
 * (services/artifacts/program_image.h), or is "unknown". `versions` (or NULL) maps artifact names
 * to versions to use instead. Fails with ERROR_USAGE for an unknown name or unusable version in
 * `versions`, ERROR_MALFORMED for a file that is no Windows program, ERROR_ABSENT. */
int bundle_create(struct host *host, const char *folder, const char *zip_path,
                  const json_t *versions, struct artifacts *ret, struct error *err);
/* The images to pack into a bundle. */
struct bundle_wants {
    /* The sandbox image, e.g. "registry.k8s.io/pause:3.10.2", or NULL. */
    const char *sandbox;
    const struct text_list *images; /* The user's own images. */
    unsigned build;                 /* Build of Windows; 0 means all builds. */
    const struct mirror *from;
};
/* For bundle create: packs all artifacts of an open bundle, each verified, and the sandbox image.
 * With the user's own images `path` is a folder, since they are too large for a .zip. The folder
 * gets its lock when it is complete; a repeated call continues with the images that are there. The
 * same programs give the same bytes. Fails as bundle_read() and image_fetch(), or with
 * ERROR_MALFORMED. */
int bundle_create_from(struct host *host, struct bundle *bundle, const struct bundle_wants *wants,
                       const char *path, struct artifacts *ret, struct artifacts *ret_images,
                       struct error *err);
