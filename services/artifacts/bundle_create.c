/* Packs a bundle from a folder of programs or from upstream's releases. */
#include "base/nearest.h"
#include "host/path.h"
#include "pki/digest.h"
#include "services/artifacts/artifacts.h"
#include "services/artifacts/bundle_archive.h"
#include "services/artifacts/image.h"
#include "services/artifacts/program_image.h"

/* The packed files so far: rows of the lock and, in their order, the bytes. */
struct packing {
    struct artifacts artifacts, images; /* The images are files on disk. */
    char *contents[ARTIFACTS_MAX];
    size_t lengths[ARTIFACTS_MAX];
};

static void packing_free(struct packing *packing) {
    for (size_t i = 0; i < packing->artifacts.count; i++)
        free(packing->contents[i]);
    artifacts_free(&packing->artifacts);
    artifacts_free(&packing->images);
}

/* Adds a program; takes ownership of data. sha256 may be NULL when it is not known yet. */
static void add_artifact(struct packing *packing, const struct artifact_target *target,
                         const char *version, const char *sha256, char *data, size_t len) {
    struct artifacts *list = &packing->artifacts;
    struct artifact artifact = {.name = xstrdup(target->name),
                                .version = xstrdup(version),
                                .size = len,
                                .path = xasprintf("bin/%s", path_base(target->target)),
                                .target = xstrdup(target->target)};
    if (sha256)
        memcpy(artifact.sha256, sha256, sizeof artifact.sha256);
    else
        digest_sha256(data, len, artifact.sha256);
    packing->contents[list->count] = data;
    packing->lengths[list->count] = len;
    array_add(list->items, list->count, artifact);
}

static int collect(struct host *host, const char *folder, const json_t *versions,
                   struct packing *packing, struct error *err) {
    struct artifact_target target;

    if (host_file_type(host, folder) != HOST_FOLDER)
        return error_set(err, ERROR_ABSENT, "no such folder");
    for (size_t i = 0; artifact_target_at(i, &target); i++) {
        _cleanup_(freep) char *path = xasprintf("%s\\%s", folder, path_base(target.target));
        _cleanup_(freep) char *data = NULL, *own = NULL;
        enum host_file_type type = host_file_type(host, path);
        const char *version = json_text_at(versions, target.name);
        size_t len = 0;

        if (type != HOST_FILE && type != HOST_LINK)
            continue;
        if (host_read(host, path, ARTIFACT_SIZE_MAX, &data, &len, err) < 0)
            return -1;
        if (text_ends_with(path, ".exe") && program_image_check(data, len, err) < 0)
            return error_prefix(err, "%s", path_base(path));
        if (!version)
            version = own = program_image_version(data, len);
        add_artifact(packing, &target, version ? version : "unknown", NULL, take_ptr(data), len);
    }
    if (!packing->artifacts.count)
        return error_set(err, ERROR_ABSENT, "no node programs (kubelet.exe, ...) found in it");
    return 0;
}

static char *path_within(const char *folder, const char *name) {
    char *path = xasprintf("%s\\%s", folder, name);

    (void)text_replace(path + strlen(folder), "/", '\\');
    return path;
}

/* Writes a .zip, or a folder when there are images. The caller gets the rows of the lock; the bytes
 * are freed. */
static int finish(struct host *host, struct packing *packing, const char *path,
                  struct artifacts *ret, struct error *err) {
    const struct artifacts *artifacts = &packing->artifacts;
    _cleanup_(freep) char *lock = artifact_lock_make(artifacts, &packing->images), *zip = NULL;
    _cleanup_(freep) char *lock_path = path_within(path, ARTIFACT_LOCK_NAME);
    struct bundle_archive_file files[ARTIFACTS_MAX + 1] = {
        {ARTIFACT_LOCK_NAME, lock, strlen(lock)}};
    size_t len = 0;
    int result = 0;

    for (size_t i = 0; i < artifacts->count; i++)
        files[i + 1] = (struct bundle_archive_file){artifacts->items[i].path, packing->contents[i],
                                                    packing->lengths[i]};
    if (packing->images.count) {
        /* The lock is written last, since without it the folder is no bundle. */
        for (size_t i = 1; i <= artifacts->count && result == 0; i++) {
            _cleanup_(freep) char *to = path_within(path, files[i].path);

            result = host_write(host, to, files[i].data, files[i].len, HOST_PUBLIC, err);
        }
        if (result == 0)
            result = host_write(host, lock_path, lock, strlen(lock), HOST_PUBLIC, err);
    } else {
        result = bundle_archive_make(files, artifacts->count + 1, &zip, &len, err);
        if (result == 0)
            result = host_write(host, path, zip, len, HOST_PUBLIC, err);
    }
    if (result < 0) {
        _cleanup_(freep) char *shown = path_shown(path);

        return error_prefix(err, "create bundle '%s'", shown);
    }
    for (size_t i = 0; i < artifacts->count; i++)
        free(take_ptr(packing->contents[i]));
    *ret = take_struct(packing->artifacts);
    return 0;
}

int bundle_create(struct host *host, const char *folder, const char *zip_path,
                  const json_t *versions, struct artifacts *ret, struct error *err) {
    _cleanup_(packing_free) struct packing packing = {0};
    const char *known[ARTIFACTS_MAX];
    struct artifact_target target;
    size_t count = 0;

    if (versions && !json_is_object(versions))
        return error_set(err, ERROR_USAGE, "versions: the file holds no JSON object");
    while (count < ARTIFACTS_MAX && artifact_target_at(count, &target))
        known[count++] = target.name;
    json_each_member(versions, name, version) {
        if (!artifact_target_find(name, &target)) { /* The name is most likely misspelled. */
            const char *near = nearest_name(name, known, count);

            (void)error_set(err, ERROR_USAGE, "versions: '%s' is not a program of a node", name);
            return near ? error_hint(err, "did you mean '%s'?", near) : -1;
        }
        if (!artifact_version_is_usable(json_string_value(version)))
            return error_set(err, ERROR_USAGE, "versions: '%s' has no usable version", name);
    }
    if (collect(host, folder, versions, &packing, err) < 0) {
        _cleanup_(freep) char *shown = path_shown(folder);

        return error_prefix(err, "pack folder '%s'", shown);
    }
    json_each_member(versions, name, version)
        if (!artifact_find(&packing.artifacts, name))
            return error_set(err, ERROR_USAGE, "versions: the folder does not hold '%s'", name);
    return finish(host, &packing, zip_path, ret, err);
}

/* ---- packing images ---- */

/* Adds the sandbox image, which is packed like a program, and the user's own images, which stay
 * files in the folder. */
static int add_images(struct host *host, const struct bundle_wants *wants, const char *folder,
                      struct packing *packing, struct error *err) {
    _cleanup_(freep) char *lock = path_within(folder, ARTIFACT_LOCK_NAME);

    if (wants->sandbox) {
        _cleanup_(freep) char *part = xasprintf("%s.pause.tar", folder), *data = NULL;
        struct artifact_target target;
        size_t len = 0;
        int result = image_fetch(wants->from, wants->sandbox, wants->build, part, err);

        if (result == 0)
            result = host_read(host, part, ARTIFACT_SIZE_MAX, &data, &len, err);
        if (host_remove(host, part, result < 0 ? ERROR_IGNORED : err) < 0 || result < 0)
            return -1;
        (void)artifact_target_find(ARTIFACT_IMAGE, &target);
        add_artifact(packing, &target, strrchr(wants->sandbox, ':') + 1, NULL, take_ptr(data), len);
    }
    if (wants->images->count && host_remove(host, lock, err) < 0)
        return -1;
    for (size_t i = 0; i < wants->images->count; i++) {
        const char *reference = wants->images->items[i];
        _cleanup_(artifact_free) struct artifact image = {
            .name = xstrdup(reference), .version = xstrdup("image"), .target = xstrdup("")};
        _cleanup_(freep) char *path = NULL;

        if (artifact_find(&packing->images, reference))
            continue;
        /* For example "images/mcr.microsoft.com_windows_nanoserver_ltsc2022.tar". */
        image.path = xasprintf("images/%s.tar", reference);
        (void)text_replace(image.path + strlen("images/"), "/:@", '_');
        path = path_within(folder, image.path);
        if (image_fetch(wants->from, reference, wants->build, path, err) < 0 ||
            artifact_digest_file(host, path, NULL, image.sha256, &image.size, err) < 0)
            return -1;
        array_add(packing->images.items, packing->images.count, take_struct(image));
    }
    return 0;
}

int bundle_create_from(struct host *host, struct bundle *bundle, const struct bundle_wants *wants,
                       const char *path, struct artifacts *ret, struct artifacts *ret_images,
                       struct error *err) {
    _cleanup_(packing_free) struct packing packing = {0};
    const struct artifacts *artifacts = bundle_artifacts(bundle);

    /* Fetches all programs together, and each archive once. */
    if (bundle_verify(bundle, NULL, err) < 0)
        return -1;
    for (size_t i = 0; i < artifacts->count; i++) {
        const struct artifact *artifact = &artifacts->items[i];
        const struct artifact_target target = {.name = artifact->name, .target = artifact->target};
        char *data = NULL;
        size_t len = 0;

        if (bundle_take(bundle, artifact, &data, &len, err) < 0)
            return -1;
        add_artifact(&packing, &target, artifact->version, artifact->sha256, data, len);
        if (program_image_check(data, len, err) < 0)
            return error_prefix(err, "artifact '%s'", artifact->name);
    }
    if (add_images(host, wants, path, &packing, err) < 0 ||
        finish(host, &packing, path, ret, err) < 0)
        return -1;
    *ret_images = take_struct(packing.images);
    return 0;
}
