/* A bundle, folder or .zip: opened, its artefacts proved one by one. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "pki/digest.h"
#include "services/artifacts.h"
#include "services/bundle_path.h"
#include "services/bundle_zip.h"

enum { LOCK_SIZE_MAX = 1024 * 1024 };

struct bundle {
    struct host *host;
    char *folder; /* or */
    char *zip;
    size_t zip_len;
    struct artifacts artifacts;
};

void bundle_free(struct bundle *bundle) {
    if (!bundle)
        return;
    free(bundle->folder);
    free(bundle->zip);
    artifacts_free(&bundle->artifacts);
    free(bundle);
}

void bundle_freep(struct bundle **bundle) {
    bundle_free(*bundle);
}

const struct artifacts *bundle_artifacts(const struct bundle *bundle) {
    return &bundle->artifacts;
}

static int read_file(struct bundle *bundle, const char *path, size_t max, char **ret,
                     size_t *ret_len, struct error *err) {
    if (bundle->zip)
        return bundle_zip_read(bundle->zip, bundle->zip_len, path, max, ret, ret_len, err);
    _cleanup_(freep) char *full = xasprintf("%s\\%s", bundle->folder, path);
    for (char *p = full; *p; p++) {
        if (*p == '/')
            *p = '\\';
    }
    return host_read(bundle->host, full, max, ret, ret_len, err);
}

static int open_bundle(struct bundle *bundle, const char *path, struct error *err) {
    _cleanup_(freep) char *text = NULL;
    size_t len = 0;
    switch (host_file_type(bundle->host, path)) {
    case HOST_FOLDER:
        bundle->folder = xstrdup(path);
        break;
    case HOST_FILE:
        if (host_read(bundle->host, path, BUNDLE_SIZE_MAX, &bundle->zip, &bundle->zip_len, err) <
                0 ||
            bundle_zip_check(bundle->zip, bundle->zip_len, err) < 0)
            return -1;
        break;
    default:
        return error_set(err, ERROR_NOT_FOUND, "it is neither a file nor a folder");
    }
    if (read_file(bundle, ARTIFACT_LOCK_NAME, LOCK_SIZE_MAX, &text, &len, err) < 0)
        return -1;
    return artifact_lock_parse(text, len, &bundle->artifacts, err);
}

int bundle_open(struct host *host, const char *path, struct bundle **ret, struct error *err) {
    _cleanup_(bundle_freep) struct bundle *bundle = xcalloc(1, sizeof(*bundle));
    bundle->host = host;
    if (open_bundle(bundle, path, err) < 0)
        return error_prefix(err, "bundle '%s'", path);
    *ret = take_ptr(bundle);
    return 0;
}

int bundle_read(struct bundle *bundle, const struct artifact *artifact, char **ret, size_t *ret_len,
                struct error *err) {
    _cleanup_(freep) char *data = NULL;
    char digest[DIGEST_TEXT_MAX];
    size_t len = 0;
    if (read_file(bundle, artifact->path, ARTIFACT_SIZE_MAX, &data, &len, err) < 0)
        return error_prefix(err, "artefact '%s'", artifact->name);
    if (len != artifact->size)
        return error_set(err, ERROR_UNTRUSTED,
                         "refuse artefact '%s': it has %zu bytes, the lock says %llu",
                         artifact->name, len, (unsigned long long)artifact->size);
    digest_sha256(data, len, digest);
    if (!text_equal(digest, artifact->sha256))
        return error_set(err, ERROR_UNTRUSTED,
                         "refuse artefact '%s': its SHA-256 is %s, the lock says %s",
                         artifact->name, digest, artifact->sha256);
    *ret = take_ptr(data);
    *ret_len = len;
    return 0;
}

int bundle_verify(struct bundle *bundle, struct error *err) {
    for (size_t i = 0; i < bundle->artifacts.count; i++) {
        _cleanup_(freep) char *data = NULL;
        size_t len = 0;
        if (bundle_read(bundle, &bundle->artifacts.items[i], &data, &len, err) < 0)
            return -1;
    }
    return 0;
}
