/* Opens a bundle (folder, .zip or mirror) and verifies its artifacts one by one. */
#include "base/text.h"
#include "host/path.h"
#include "pki/digest.h"
#include "services/artifacts/artifacts.h"
#include "services/artifacts/bundle_archive.h"
#include "services/artifacts/catalog.h"
#include "services/artifacts/mirror.h"
#include "services/artifacts/program_image.h"

enum { LOCK_SIZE_MAX = 1024 * 1024, PIECE = 4 * 1024 * 1024 };

struct bundle {
    struct host *host;
    char *folder; /* Of folder, zip and mirror exactly one is set. */
    char *zip;
    size_t zip_len; /* Length of the .zip in memory. */
    struct mirror *mirror;
    bool is_upstream; /* A mirror whose list of artifacts comes from the catalog. */
    struct artifacts artifacts, images;
    char **fetched; /* Verified content of each artifact of a mirror, or NULL. */
};

void bundle_freep(struct bundle **ptr) {
    struct bundle *bundle = *ptr;

    if (!bundle)
        return;
    for (size_t i = 0; bundle->fetched && i < bundle->artifacts.count; i++)
        free(bundle->fetched[i]);
    free(bundle->fetched);
    if (bundle->mirror)
        free((char *)bundle->mirror->url); /* The bundle owns this copy of the URL. */
    free_all(bundle->mirror, bundle->folder, bundle->zip);
    artifacts_free(&bundle->artifacts);
    artifacts_free(&bundle->images);
    free(bundle);
}

const struct artifacts *bundle_artifacts(const struct bundle *bundle) {
    return &bundle->artifacts;
}

const struct artifacts *bundle_images(const struct bundle *bundle) {
    static const struct artifacts none;

    return bundle ? &bundle->images : &none;
}

/* A local file that is absent or broken stays so. The user named the wrong file, so the kind
 * becomes ERROR_USAGE. */
static int fail_local(struct error *err) {
    if (err && (err->kind == ERROR_ABSENT || err->kind == ERROR_MALFORMED))
        err->kind = ERROR_USAGE;
    return -1;
}

/* Returns the path of a file in a bundle that is a folder. The caller frees the path. */
static char *path_in(const struct bundle *bundle, const char *path) {
    return text_replace(xasprintf("%s\\%s", bundle->folder, path), "/", '\\');
}

static int read_file(struct bundle *bundle, const char *path, size_t max, char **ret,
                     size_t *ret_len, struct error *err) {
    _cleanup_(freep) char *full = bundle->folder ? path_in(bundle, path) : NULL;
    struct mirror_file file = {.path = path, .max = max};
    int result;

    if (bundle->mirror) {
        result = mirror_fetch_all(bundle->mirror, &file, 1, err);
        *ret = file.data;
        *ret_len = file.len;
        return result;
    }
    result = bundle->zip
                 ? bundle_archive_read(bundle->zip, bundle->zip_len, path, max, ret, ret_len, err)
                 : host_read(bundle->host, full, max, ret, ret_len, err);
    return result < 0 ? fail_local(err) : 0;
}

static int read_lock(struct bundle *bundle, const char *lock, struct error *err) {
    _cleanup_(freep) char *text = NULL;
    size_t len = 0;
    int result = lock ? host_read(bundle->host, lock, LOCK_SIZE_MAX, &text, &len, err)
                      : read_file(bundle, ARTIFACT_LOCK_NAME, LOCK_SIZE_MAX, &text, &len, err);
    if (result == 0)
        result = unicode_to_utf8(&text, &len, err);
    if (result == 0)
        result = artifact_lock_parse(text, len, &bundle->artifacts, &bundle->images, err);
    if (result < 0 && lock) {
        _cleanup_(freep) char *shown = path_shown(lock);
        return error_prefix(err, "lock '%s'", shown);
    }
    return result;
}

int bundle_open(struct host *host, const char *path, const char *lock, struct bundle **ret,
                struct error *err) {
    _cleanup_(bundle_freep) struct bundle *bundle = xcalloc(1, sizeof(*bundle));
    int result = 0;

    bundle->host = host;
    switch (host_file_type(host, path)) {
    case HOST_FOLDER:
        bundle->folder = xstrdup(path);
        break;
    case HOST_FILE:
        result = host_read(host, path, BUNDLE_SIZE_MAX, &bundle->zip, &bundle->zip_len, err);
        if (result == 0)
            result = bundle_archive_read_all(bundle->zip, bundle->zip_len, NULL, 0, err);
        break;
    default:
        result = error_set(err, ERROR_ABSENT, "no such file or folder");
        if (strstr(path, "://"))
            (void)error_hint(err, "a bundle is a file of this machine: download it first, or name "
                                  "the server of its files: --mirror https://...");
    }
    if (result == 0)
        result = read_lock(bundle, lock, err);
    if (result == 0 && bundle->zip && bundle->images.count) {
        result = error_set(err, ERROR_UNSUPPORTED, "it has images, and a .zip cannot bring these");
        (void)error_hint(err, "unpack it into a folder, and name that folder");
    }
    if (result < 0) {
        _cleanup_(freep) char *shown = path_shown(path);

        (void)fail_local(err);
        return error_prefix(err, "bundle '%s'", shown);
    }
    *ret = take_ptr(bundle);
    return 0;
}

/* Refuses artifacts whose total size is too large, because all of them stay in memory until they
 * are installed. */
static int check_sum(const struct artifacts *artifacts, struct error *err) {
    uint64_t sum = 0;
    for (size_t i = 0; i < artifacts->count; i++)
        sum += artifacts->items[i].size;
    return sum <= BUNDLE_SIZE_MAX
               ? 0
               : error_set(err, ERROR_MALFORMED,
                           "decode lock: its artifacts have more than %d bytes", BUNDLE_SIZE_MAX);
}

static struct bundle *new_fetched(const struct mirror *mirror) {
    struct bundle *bundle = xcalloc(1, sizeof *bundle);
    bundle->host = mirror->host;
    bundle->mirror = xmalloc(sizeof *mirror);
    *bundle->mirror = *mirror;
    bundle->mirror->url = xstrdup_null(mirror->url);
    return bundle;
}

int bundle_open_mirror(const struct mirror *mirror, const char *lock, struct bundle **ret,
                       struct error *err) {
    _cleanup_(bundle_freep) struct bundle *bundle = new_fetched(mirror);
    if (read_lock(bundle, lock, err) < 0 || check_sum(&bundle->artifacts, err) < 0)
        return error_prefix(err, "mirror '%s'", mirror->url);
    bundle->fetched = xcalloc(bundle->artifacts.count + 1, sizeof(*bundle->fetched));
    *ret = take_ptr(bundle);
    return 0;
}

static int read_catalog(struct host *host, const char *path, struct catalog **ret,
                        struct error *err) {
    _cleanup_(freep) char *text = NULL, *shown = path ? path_shown(path) : NULL;
    _cleanup_(freep) char *what = xasprintf("catalog '%s'", shown ? shown : "of winjoin");
    size_t len = 0;

    if (!path || host_read_text(host, path, LOCK_SIZE_MAX, &text, &len, err) == 0)
        return catalog_read(text, len, what, ret, err) < 0 ? fail_local(err) : 0;
    (void)error_as(err, ERROR_USAGE);
    return error_prefix(err, "%s", what);
}

int bundle_open_upstream(const struct mirror *from, const struct text_list *names,
                         const struct bundle_choice *choice, struct bundle **ret,
                         struct error *err) {
    _cleanup_(bundle_freep) struct bundle *bundle = new_fetched(from);
    _cleanup_(catalog_freep) struct catalog *catalog = NULL;
    struct artifacts *all = &bundle->artifacts;
    size_t kept = 0;

    bundle->is_upstream = bundle->mirror->follows_redirects = true;
    if (read_catalog(from->host, choice->catalog, &catalog, err) < 0)
        return -1;
    if (!choice->lock) {
        catalog_artifacts(catalog, choice->kubernetes_version, names, all);
    } else {
        if (read_lock(bundle, choice->lock, err) < 0 || check_sum(all, err) < 0)
            return -1;
        /* Keeps the wanted artifacts of the lock that upstream has. */
        for (size_t i = 0; i < all->count; i++)
            if (text_list_has(names, all->items[i].name) && catalog_locate(catalog, &all->items[i]))
                all->items[kept++] = all->items[i];
            else
                artifact_free(&all->items[i]);
        all->count = kept;
    }
    bundle->fetched = xcalloc(all->count + 1, sizeof(*bundle->fetched));
    *ret = take_ptr(bundle);
    return 0;
}

void bundle_place(struct bundle *bundle, const struct artifact_places *places) {
    struct artifacts *all = &bundle->artifacts;
    size_t kept = 0;

    for (size_t i = 0; i < all->count; i++) {
        char *place = artifact_place(places, all->items[i].target);

        if (!place) {
            artifact_free(&all->items[i]);
            free(bundle->fetched ? bundle->fetched[i] : NULL);
            continue;
        }
        text_set(&all->items[i].target, place);
        if (bundle->fetched)
            bundle->fetched[kept] = bundle->fetched[i];
        all->items[kept++] = all->items[i];
    }
    all->count = kept;
}

/* Leaves out members of archives, since an archive's digest does not verify a single file. */
int artifacts_published(const struct mirror *from, const struct text_list *names,
                        const char *catalog_file, struct artifacts *ret, struct error *err) {
    _cleanup_(catalog_freep) struct catalog *catalog = NULL;
    size_t kept = 0;

    if (read_catalog(from->host, catalog_file, &catalog, err) < 0)
        return -1;
    catalog_artifacts(catalog, "", names, ret);
    for (size_t i = 0; i < ret->count; i++) {
        struct artifact *artifact = &ret->items[i];

        freep(&artifact->version);
        if (!artifact->member &&
            program_version_read(from->host, artifact->target, false, &artifact->version,
                                 ERROR_IGNORED) > 0 &&
            !text_starts_with(artifact->version, "git-") && catalog_locate(catalog, artifact))
            ret->items[kept++] = *artifact;
        else
            artifact_free(artifact);
    }
    ret->count = kept;
    return upstream_ask_digests(from, ret, err);
}

bool bundle_is_upstream(const struct bundle *bundle) {
    return bundle->is_upstream;
}

const struct mirror *bundle_mirror(const struct bundle *bundle) {
    return bundle->mirror;
}

static int check_content(struct artifact *artifact, const char *data, size_t len,
                         struct error *err) {
    char digest[DIGEST_TEXT_MAX];
    if (!*artifact->sha256) { /* Upstream's artifact, already verified by its published digest. */
        digest_sha256(data, len, artifact->sha256);
        artifact->size = len;
        return 0;
    }
    if (len != artifact->size)
        return error_set(err, ERROR_UNTRUSTED,
                         "verify artifact '%s': it has %zu bytes, the lock says %llu",
                         artifact->name, len, (unsigned long long)artifact->size);
    digest_sha256(data, len, digest);
    if (!text_equal(digest, artifact->sha256))
        return error_set(err, ERROR_UNTRUSTED,
                         "verify artifact '%s': its SHA-256 is %s, the lock says %s",
                         artifact->name, digest, artifact->sha256);
    return 0;
}

/* Fetches the wanted artifacts (one flag each) and verifies them. */
static int fetch(struct bundle *bundle, const bool *wanted, struct error *err) {
    struct artifacts *artifacts = &bundle->artifacts;
    struct mirror_file files[ARTIFACTS_MAX] = {0};
    char *contents[ARTIFACTS_MAX] = {0};
    size_t lengths[ARTIFACTS_MAX] = {0}, of[ARTIFACTS_MAX], count = 0;
    int result;

    for (size_t i = 0; i < artifacts->count && !bundle->is_upstream; i++) {
        const struct artifact *artifact = &artifacts->items[i];

        if (!wanted[i])
            continue;
        of[count] = i;
        files[count++] = (struct mirror_file){.name = artifact->name,
                                              .path = artifact->path,
                                              .max = (size_t)artifact->size,
                                              .sha256 = artifact->sha256};
    }
    result = bundle->is_upstream
                 ? upstream_fetch(bundle->mirror, artifacts, wanted, contents, lengths, err)
                 : mirror_fetch_all(bundle->mirror, files, count, err);
    for (size_t i = 0; i < count; i++) {
        contents[of[i]] = files[i].data;
        lengths[of[i]] = files[i].len;
    }

    for (size_t i = 0; i < artifacts->count; i++) {
        struct error first = {0}; /* Receives later errors, because err keeps the first one. */

        if (contents[i] && check_content(&artifacts->items[i], contents[i], lengths[i],
                                         result < 0 ? &first : err) == 0)
            bundle->fetched[i] = take_ptr(contents[i]);
        else if (contents[i])
            result = -1;
        free(contents[i]);
    }
    return result;
}

int bundle_take(struct bundle *bundle, const struct artifact *artifact, char **ret, size_t *ret_len,
                struct error *err) {
    size_t at = (size_t)(artifact - bundle->artifacts.items);
    _cleanup_(freep) char *data = NULL;

    if (bundle->mirror) {
        bool wanted[ARTIFACTS_MAX] = {0};

        wanted[at] = true;
        if (!bundle->fetched[at] && fetch(bundle, wanted, err) < 0)
            return -1;
        *ret = take_ptr(bundle->fetched[at]);
        *ret_len = (size_t)artifact->size;
        return 0;
    }
    if (read_file(bundle, artifact->path, ARTIFACT_SIZE_MAX, &data, ret_len, err) < 0)
        return error_prefix(err, "artifact '%s'", artifact->name);
    if (check_content(&bundle->artifacts.items[at], data, *ret_len, err) < 0)
        return -1;
    *ret = take_ptr(data);
    return 0;
}

int bundle_read(struct bundle *bundle, const struct artifact *artifact, char **ret, size_t *ret_len,
                struct error *err) {
    if (bundle_take(bundle, artifact, ret, ret_len, err) < 0)
        return -1;
    if (bundle->mirror)
        bundle->fetched[artifact - bundle->artifacts.items] = xmemdup(*ret, *ret_len);
    return 0;
}

/* ---- images and large files ---- */

int artifact_digest_file(struct host *host, const char *path, const char *to,
                         char sha256[DIGEST_TEXT_MAX], uint64_t *ret_size, struct error *err) {
    struct digest *digest = digest_begin();
    uint64_t at = 0;
    int result = 0;

    *ret_size = UINT64_MAX; /* The first piece returns the size. */
    for (size_t len = PIECE; result == 0 && len == PIECE && !host_interrupted(host); at += len) {
        _cleanup_(freep) char *data = NULL;

        result = host_read_part(host, path, at, PIECE, &data, &len, ret_size, err);
        if (result == 0 && to && (len || !at))
            result = host_write_part(host, to, at, data, len, HOST_PUBLIC, err);
        if (result == 0)
            digest_add(digest, data, len);
    }
    digest_end(digest, sha256);
    return result == 0 && at < *ret_size ? error_set(err, ERROR_INTERRUPTED, "interrupted")
                                         : result;
}

int bundle_head(struct bundle *bundle, const struct artifact *artifact, char **ret, size_t *ret_len,
                struct error *err) {
    _cleanup_(freep) char *path = NULL;
    struct mirror_file file = {.path = artifact->path, .max = PIECE, .head = true};
    uint64_t size;

    if (bundle->zip)
        return bundle_archive_read(bundle->zip, bundle->zip_len, artifact->path, ARTIFACT_SIZE_MAX,
                                   ret, ret_len, err);
    if (bundle->folder) {
        path = path_in(bundle, artifact->path);
        return host_read_part(bundle->host, path, 0, PIECE, ret, ret_len, &size, err);
    }
    if (mirror_fetch_all(bundle->mirror, &file, 1, err) < 0)
        return -1;
    *ret = file.data;
    *ret_len = file.len;
    return 0;
}

int bundle_image_copy(struct bundle *bundle, const struct artifact *image, const char *to,
                      struct error *err) {
    _cleanup_(freep) char *path = bundle->folder ? path_in(bundle, image->path) : NULL;
    struct mirror_file file = {.name = image->name,
                               .path = image->path,
                               .max = (size_t)image->size,
                               .sha256 = image->sha256,
                               .into = to};
    uint64_t size = 0;
    int result;

    if (bundle->folder) {
        result = artifact_digest_file(bundle->host, path, to, file.digest, &size, err);
    } else {
        result = mirror_fetch_all(bundle->mirror, &file, 1, err);
        size = file.len;
    }
    if (result < 0)
        return error_prefix(err, "image '%s'", image->name);
    if (size == image->size && text_equal(file.digest, image->sha256))
        return 0;
    if (to)
        (void)host_remove(bundle->host, to, ERROR_IGNORED);
    return error_set(err, ERROR_UNTRUSTED, "image '%s': it is not what the lock says", image->name);
}

int bundle_verify(struct bundle *bundle, const struct text_list *only, struct error *err) {
    bool wanted[ARTIFACTS_MAX] = {0};

    for (size_t i = 0; i < bundle->artifacts.count; i++) {
        const struct artifact *artifact = &bundle->artifacts.items[i];
        _cleanup_(freep) char *data = NULL;
        size_t len = 0;

        if (only && !text_list_has(only, artifact->name))
            continue;
        wanted[i] = bundle->mirror && !bundle->fetched[i];
        if (!bundle->mirror && bundle_read(bundle, artifact, &data, &len, err) < 0)
            return -1;
    }
    for (size_t i = 0; !only && !bundle->mirror && i < bundle->images.count; i++)
        if (bundle_image_copy(bundle, &bundle->images.items[i], NULL, err) < 0)
            return -1;
    return bundle->mirror ? fetch(bundle, wanted, err) : 0;
}

int bundle_check_closed(const struct bundle *bundle, struct error *err) {
    const struct artifacts *artifacts = &bundle->artifacts;
    _cleanup_(text_list_free) struct text_list files = {0};

    if (!bundle->zip)
        return 0;
    if (bundle_archive_files(bundle->zip, bundle->zip_len, &files, err) < 0)
        return -1;
    for (size_t i = 0; i < files.count; i++) {
        bool named = text_equal(files.items[i], ARTIFACT_LOCK_NAME);

        for (size_t k = 0; k < artifacts->count && !named; k++)
            named = text_equal(artifacts->items[k].path, files.items[i]);
        if (!named)
            return error_set(err, ERROR_UNTRUSTED, "verify bundle: its lock does not name '%s'",
                             files.items[i]);
    }
    return 0;
}
