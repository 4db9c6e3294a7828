/* Packing a bundle from a folder of programs. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "pki/digest.h"
#include "services/artifacts.h"
#include "services/bundle_zip.h"

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

static void add_artifact(struct packing *packing, const struct artifact_target *target,
                         const char *version, char *data, size_t len) {
    struct artifacts *list = &packing->artifacts;
    struct artifact artifact = {.name = xstrdup(target->name),
                                .version = xstrdup(version),
                                .size = len,
                                .path = xasprintf("bin/%s", strrchr(target->target, '\\') + 1),
                                .target = xstrdup(target->target)};
    digest_sha256(data, len, artifact.sha256);
    packing->contents[list->count] = data;
    packing->lengths[list->count] = len;
    list->items = xrealloc(list->items, (list->count + 1) * sizeof(*list->items));
    list->items[list->count++] = artifact;
}

static int collect(struct host *host, const char *folder, const json_t *versions,
                   struct packing *packing, struct error *err) {
    struct artifact_target target;
    if (host_file_type(host, folder) != HOST_FOLDER)
        return error_set(err, ERROR_ABSENT, "'%s' is not a folder", folder);
    for (size_t i = 0; artifact_target_at(i, &target); i++) {
        const char *version = json_text_at(versions, target.name);
        _cleanup_(freep) char *path = xasprintf("%s\\%s", folder, strrchr(target.target, '\\') + 1);
        char *data = NULL;
        size_t len = 0;
        if (host_file_type(host, path) != HOST_FILE)
            continue;
        if (host_read(host, path, ARTIFACT_SIZE_MAX, &data, &len, err) < 0)
            return -1;
        add_artifact(packing, &target, version ? version : "unknown", data, len);
    }
    if (!packing->artifacts.count)
        return error_set(err, ERROR_ABSENT, "no node programs found in '%s'", folder);
    return 0;
}

static int pack(struct host *host, const struct packing *packing, const char *zip_path,
                struct error *err) {
    _cleanup_(freep) char *lock = artifact_lock_make(&packing->artifacts);
    struct bundle_zip_file files[ARTIFACTS_MAX + 1] = {{ARTIFACT_LOCK_NAME, lock, strlen(lock)}};
    _cleanup_(freep) char *zip = NULL;
    size_t len = 0, count = packing->artifacts.count;
    for (size_t i = 0; i < count; i++)
        files[i + 1] = (struct bundle_zip_file){packing->artifacts.items[i].path,
                                                packing->contents[i], packing->lengths[i]};
    if (bundle_zip_make(files, count + 1, &zip, &len, err) < 0)
        return -1;
    return host_write(host, zip_path, zip, len, HOST_PUBLIC, err);
}

int bundle_create(struct host *host, const char *folder, const char *zip_path,
                  const json_t *versions, struct artifacts *ret, struct error *err) {
    _cleanup_(packing_free) struct packing packing = {0};
    if (collect(host, folder, versions, &packing, err) < 0 ||
        pack(host, &packing, zip_path, err) < 0)
        return error_prefix(err, "create bundle '%s'", zip_path);
    /* the rows go to the caller, the bytes do not */
    for (size_t i = 0; i < packing.artifacts.count; i++)
        free(take_ptr(packing.contents[i]));
    *ret = packing.artifacts;
    packing.artifacts = (struct artifacts){0};
    return 0;
}
