/* Packing a bundle from a folder of programs, or from upstream's releases. */
#include "base/nearest.h"
#include "host/path.h"
#include "pki/digest.h"
#include "services/artifacts/artifacts.h"
#include "services/artifacts/bundle_archive.h"
#include "services/artifacts/image.h"
#include "services/artifacts/program_image.h"

/* What is packed so far: the lock's rows and the files' bytes, in the same order. */
struct packing {
    struct artifacts artifacts;
    char *contents[ARTIFACTS_MAX];
    size_t lengths[ARTIFACTS_MAX];
};

static void packing_free(struct packing *packing) {
    for (size_t i = 0; i < packing->artifacts.count; i++)
        free(packing->contents[i]);
    artifacts_free(&packing->artifacts);
}

/* `sha256` NULL: not known yet. */
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

static int refuse_name(const char *name, struct error *err) {
    const char *known[ARTIFACTS_MAX], *near;
    struct artifact_target target;
    size_t count = 0;

    while (count < ARTIFACTS_MAX && artifact_target_at(count, &target))
        known[count++] = target.name;
    near = nearest_name(name, known, count);
    (void)error_set(err, ERROR_USAGE, "versions: '%s' is not a program of a node", name);
    return near ? error_hint(err, "did you mean '%s'?", near) : -1;
}

/* A name that matches no program is most likely misspelt. */
static int check_versions(const json_t *versions, struct error *err) {
    struct artifact_target target;

    if (versions && !json_is_object(versions))
        return error_set(err, ERROR_USAGE, "versions: the file holds no JSON object");
    json_each_member(versions, name, version) {
        if (!artifact_target_find(name, &target))
            return refuse_name(name, err);
        if (!artifact_version_is_usable(json_string_value(version)))
            return error_set(err, ERROR_USAGE, "versions: '%s' has no usable version", name);
    }
    return 0;
}

static int add_file(struct host *host, const struct artifact_target *target, const char *path,
                    const char *given_version, struct packing *packing, struct error *err) {
    _cleanup_(freep) char *data = NULL, *own_version = NULL;
    size_t len = 0;

    if (host_read(host, path, ARTIFACT_SIZE_MAX, &data, &len, err) < 0)
        return -1;
    if (text_ends_with(path, ".exe") && program_image_check(data, len, err) < 0)
        return error_prefix(err, "%s", path_base(path));
    if (!given_version)
        given_version = own_version = program_image_version(data, len);
    add_artifact(packing, target, given_version ? given_version : "unknown", NULL, take_ptr(data),
                 len);
    return 0;
}

static int collect(struct host *host, const char *folder, const json_t *versions,
                   struct packing *packing, struct error *err) {
    struct artifact_target target;

    if (host_file_type(host, folder) != HOST_FOLDER)
        return error_set(err, ERROR_ABSENT, "no such folder");
    for (size_t i = 0; artifact_target_at(i, &target); i++) {
        _cleanup_(freep) char *path = xasprintf("%s\\%s", folder, path_base(target.target));
        enum host_file_type type = host_file_type(host, path);
        if ((type == HOST_FILE || type == HOST_LINK) &&
            add_file(host, &target, path, json_text_at(versions, target.name), packing, err) < 0)
            return -1;
    }
    if (!packing->artifacts.count)
        return error_set(err, ERROR_ABSENT, "no node programs (kubelet.exe, ...) found in it");
    return 0;
}

static int check_versions_used(const json_t *versions, const struct packing *packing,
                               struct error *err) {
    json_each_member(versions, name, version)
        if (!artifact_find(&packing->artifacts, name))
            return error_set(err, ERROR_USAGE, "versions: the folder does not hold '%s'", name);
    return 0;
}

static int pack(struct host *host, const struct packing *packing, const char *zip_path,
                struct error *err) {
    _cleanup_(freep) char *lock = artifact_lock_make(&packing->artifacts);
    struct bundle_archive_file files[ARTIFACTS_MAX + 1] = {
        {ARTIFACT_LOCK_NAME, lock, strlen(lock)}};
    _cleanup_(freep) char *zip = NULL;
    size_t len = 0, count = packing->artifacts.count;
    for (size_t i = 0; i < count; i++)
        files[i + 1] = (struct bundle_archive_file){packing->artifacts.items[i].path,
                                                    packing->contents[i], packing->lengths[i]};
    if (bundle_archive_make(files, count + 1, &zip, &len, err) < 0)
        return -1;
    return host_write(host, zip_path, zip, len, HOST_PUBLIC, err);
}

/* The rows go to the caller, the bytes do not. */
static int finish(struct host *host, struct packing *packing, const char *zip_path,
                  struct artifacts *ret, struct error *err) {
    if (pack(host, packing, zip_path, err) < 0) {
        _cleanup_(freep) char *shown = path_shown(zip_path);
        return error_prefix(err, "create bundle '%s'", shown);
    }
    for (size_t i = 0; i < packing->artifacts.count; i++)
        free(take_ptr(packing->contents[i]));
    *ret = take_struct(packing->artifacts);
    return 0;
}

int bundle_create(struct host *host, const char *folder, const char *zip_path,
                  const json_t *versions, struct artifacts *ret, struct error *err) {
    _cleanup_(packing_free) struct packing packing = {0};
    if (check_versions(versions, err) < 0)
        return -1;
    if (collect(host, folder, versions, &packing, err) < 0) {
        _cleanup_(freep) char *shown = path_shown(folder);
        return error_prefix(err, "pack folder '%s'", shown);
    }
    if (check_versions_used(versions, &packing, err) < 0)
        return -1;
    return finish(host, &packing, zip_path, ret, err);
}

static int add_image(const struct bundle_image *image, struct packing *packing, struct error *err) {
    struct artifact_target target;
    char *data = NULL;
    size_t len = 0;

    if (!image)
        return 0;
    if (image_fetch(image->from, image->reference, image->build, &data, &len, err) < 0)
        return -1;
    (void)artifact_target_find(ARTIFACT_IMAGE, &target);
    add_artifact(packing, &target, strrchr(image->reference, ':') + 1, NULL, data, len);
    return 0;
}

int bundle_create_from(struct host *host, struct bundle *bundle, const struct bundle_image *image,
                       const char *zip_path, struct artifacts *ret, struct error *err) {
    _cleanup_(packing_free) struct packing packing = {0};
    const struct artifacts *artifacts = bundle_artifacts(bundle);

    if (bundle_verify(bundle, NULL, err) < 0) /* all at the same time, an archive once */
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
    if (add_image(image, &packing, err) < 0)
        return -1;
    return finish(host, &packing, zip_path, ret, err);
}
