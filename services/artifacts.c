/* Artefacts laid on the node: proved first, written where they differ. */
#include "services/artifacts.h"

#include <stdlib.h>

#include "base/memory.h"
#include "pki/digest.h"

/* What stands at the target: *ret_same, and whether anything does. */
static int look_at_target(struct host *host, const struct artifact *artifact, bool *ret_there,
                          bool *ret_same, struct error *err) {
    _cleanup_(freep) char *data = NULL;
    char digest[DIGEST_TEXT_MAX];
    struct error read_err = {0};
    size_t len = 0;
    *ret_there = *ret_same = false;
    if (host_read(host, artifact->target, ARTIFACT_SIZE_MAX, &data, &len, &read_err) < 0) {
        *ret_there = read_err.kind == ERROR_MALFORMED; /* too long to be the same */
        if (*ret_there || read_err.kind == ERROR_NOT_FOUND)
            return 0;
        *err = read_err;
        return -1;
    }
    digest_sha256(data, len, digest);
    *ret_there = true;
    *ret_same = len == artifact->size && text_equal(digest, artifact->sha256);
    return 0;
}

static int install(struct host *host, struct bundle *bundle, const struct artifact *artifact,
                   struct error *err) {
    _cleanup_(freep) char *data = NULL;
    size_t len = 0;
    if (bundle_read(bundle, artifact, &data, &len, err) < 0)
        return -1;
    return host_write(host, artifact->target, data, len, HOST_PUBLIC, err);
}

static int ensure_one(struct host *host, struct bundle *bundle, const struct artifact *artifact,
                      artifact_before *before, void *context, struct artifacts_result *result,
                      struct error *err) {
    bool there = false, same = false;
    if (look_at_target(host, artifact, &there, &same, err) < 0)
        return error_prefix(err, "artefact '%s'", artifact->name);
    if (same) {
        result->present++;
        return 0;
    }
    if (before && before(context, artifact, there, err) < 0)
        return -1;
    if (install(host, bundle, artifact, err) < 0)
        return error_prefix(err, "install '%s'", artifact->name);
    result->installed++;
    result->bytes += artifact->size;
    return 0;
}

static bool wanted(const struct text_list *only, const struct artifact *artifact) {
    return !only || text_list_has(only, artifact->name);
}

int artifacts_ensure(struct host *host, struct bundle *bundle, const struct text_list *only,
                     artifact_before *before, void *context, struct artifacts_result *ret,
                     struct error *err) {
    const struct artifacts *artifacts = bundle_artifacts(bundle);
    struct artifacts_result result = {0};
    if (bundle_verify(bundle, err) < 0)
        return -1;
    for (size_t i = 0; i < artifacts->count; i++) {
        if (wanted(only, &artifacts->items[i]) &&
            ensure_one(host, bundle, &artifacts->items[i], before, context, &result, err) < 0)
            return -1;
    }
    *ret = result;
    return 0;
}

static bool in_lock(const struct artifacts *lock, const char *name) {
    for (size_t i = 0; lock && i < lock->count; i++) {
        if (text_equal(lock->items[i].name, name))
            return true;
    }
    return false;
}

int artifacts_missing(struct host *host, const struct artifacts *lock, const char *cni_type,
                      bool flannel, bool kube_proxy, struct text_list *ret, struct error *err) {
    size_t count = 0;
    const struct artifact_target *targets = artifact_targets(&count);
    if (!artifact_target(cni_type))
        return error_set(err, ERROR_USAGE, "unknown CNI plugin '%s'", cni_type);
    for (size_t i = 0; i < count; i++) {
        const struct artifact_target *target = &targets[i];
        bool needed = target->required || text_equal(target->name, cni_type) ||
                      (flannel && text_equal(target->name, "flanneld")) ||
                      (kube_proxy && text_equal(target->name, "kube-proxy"));
        if (needed && !in_lock(lock, target->name) &&
            host_file_type(host, target->target) != HOST_FILE)
            text_list_add(ret, target->name);
    }
    return 0;
}
