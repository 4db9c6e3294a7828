/* Installs artifacts on the node: verifies all of them first, then writes those that differ. */
#include "services/artifacts/artifacts.h"

#include "pki/digest.h"

/* Returns 1 when only an administrator can have written the file, otherwise 0. */
static int is_ours(struct host *host, const char *path, struct error *err) {
    struct host_untrusted untrusted = {0};
    bool found;

    if (host_find_untrusted(host, path, &untrusted, err) < 0)
        return -1;
    found = untrusted.path != NULL;
    host_untrusted_free(&untrusted);
    return !found;
}

int artifact_is_installed(struct host *host, const struct artifact *artifact, bool *ret_same,
                          struct error *err) {
    _cleanup_(freep) char *data = NULL;
    char digest[DIGEST_TEXT_MAX];
    struct error read_err = {0};
    size_t len = 0;
    int ours = is_ours(host, artifact->target, err);

    *ret_same = false;
    if (ours <= 0)
        return ours;
    if (host_read(host, artifact->target, ARTIFACT_SIZE_MAX, &data, &len, &read_err) < 0) {
        if (read_err.kind == ERROR_MALFORMED || /* A longer file cannot be the same. */
            read_err.kind == ERROR_ABSENT)
            return 0;
        return error_pass(err, &read_err);
    }
    digest_sha256(data, len, digest);
    *ret_same = (!artifact->size || len == artifact->size) && text_equal(digest, artifact->sha256);
    return 0;
}

/* Finds the artifacts that the node lacks or has with other content; adds their names to `ret`. */
static int find_different(struct host *host, const struct artifacts *artifacts,
                          const struct text_list *only, struct text_list *ret,
                          struct artifacts_result *result, struct error *err) {
    for (size_t i = 0; i < artifacts->count; i++) {
        const struct artifact *artifact = &artifacts->items[i];
        bool same = false;
        if (only && !text_list_has(only, artifact->name))
            continue;
        if (artifact_is_installed(host, artifact, &same, err) < 0)
            return error_prefix(err, "artifact '%s'", artifact->name);
        if (same)
            result->present++;
        else
            text_list_add(ret, artifact->name);
    }
    return 0;
}

int artifacts_fetch(struct host *host, struct bundle *bundle, struct error *err) {
    _cleanup_(text_list_free) struct text_list different = {0};
    struct artifacts_result result = {0};

    if (!bundle_mirror(bundle))
        return 0;
    return find_different(host, bundle_artifacts(bundle), NULL, &different, &result, err) < 0
               ? -1
               : bundle_verify(bundle, &different, err);
}

int artifacts_ensure(struct host *host, struct bundle *bundle, const struct text_list *only,
                     artifact_before *before, void *context, struct artifacts_result *ret,
                     struct error *err) {
    const struct artifacts *artifacts = bundle_artifacts(bundle);
    _cleanup_(text_list_free) struct text_list different = {0};
    struct artifacts_result result = {0};
    uint64_t needed = 0, there = 0;

    if (find_different(host, artifacts, only, &different, &result, err) < 0 ||
        bundle_verify(bundle, &different, err) < 0)
        return -1;
    for (size_t i = 0; i < artifacts->count; i++)
        if (text_list_has(&different, artifacts->items[i].name))
            needed += artifacts->items[i].size;
    if (host_free_space(host, "C:\\", &there, err) < 0)
        return -1;
    if (needed > there)
        return error_set(err, ERROR_HOST,
                         "install the programs: %.1f MB are needed on C:, %.1f MB are free",
                         (double)needed / 1e6, (double)there / 1e6);
    for (size_t i = 0; i < artifacts->count; i++) {
        const struct artifact *artifact = &artifacts->items[i];
        _cleanup_(freep) char *data = NULL;
        size_t len = 0;

        if (!text_list_has(&different, artifact->name))
            continue;
        if (before && before(context, artifact,
                             host_file_type(host, artifact->target) != HOST_ABSENT, err) < 0)
            return -1;
        if (bundle_read(bundle, artifact, &data, &len, err) < 0 ||
            host_write(host, artifact->target, data, len, HOST_PUBLIC, err) < 0)
            return error_prefix(err, "install '%s'", artifact->name);
        result.installed++;
        result.bytes += artifact->size;
    }
    *ret = result;
    return 0;
}

/* ---- programs that are running ---- */

enum { OLD_MAX = 10 };

/* Returns the path of an old program, "PATH.old", "PATH.old1", ...; free() it. */
static char *old_path(const char *path, int n) {
    return n ? xasprintf("%s.old%d", path, n) : xasprintf("%s.old", path);
}

void program_remove_old(struct host *host, const char *path) {
    for (int i = 0; i < OLD_MAX; i++) {
        _cleanup_(freep) char *old = old_path(path, i);

        if (host_file_type(host, old) == HOST_FILE)
            /* A program that still runs fails here and is removed by a later call. */
            (void)host_remove(host, old, NULL);
    }
}

int program_write(struct host *host, const char *path, const void *data, size_t len,
                  enum host_access access, struct error *err) {
    struct error why = {0};

    if (host_write(host, path, data, len, access, &why) == 0)
        return 0;
    if ((why.kind != ERROR_DENIED && why.kind != ERROR_CONFLICT) ||
        host_file_type(host, path) != HOST_FILE)
        return error_pass(err, &why);

    /* The program may be running: rename it, then write again. */
    program_remove_old(host, path);
    for (int i = 0; i < OLD_MAX; i++) {
        _cleanup_(freep) char *old = old_path(path, i);

        if (host_file_type(host, old) != HOST_ABSENT)
            continue;
        return host_rename(host, path, old, NULL) == 0
                   ? host_write(host, path, data, len, access, err)
                   : error_pass(err, &why);
    }
    return error_pass(err, &why);
}

int artifacts_missing(struct host *host, const struct artifacts *lock,
                      const struct artifact_places *places, const char *cni_type, const char *ipam,
                      const struct service_choice *choice, struct text_list *ret,
                      struct error *err) {
    struct artifact_target target;

    if (cni_type && !artifact_target_find(cni_type, &target))
        return error_set(err, ERROR_USAGE, "unknown CNI plugin '%s'", cni_type);
    for (size_t i = 0; artifact_target_at(i, &target); i++) {
        bool needed = target.service ? service_is_chosen(target.service, choice)
                                     : target.required || text_equal(target.name, cni_type) ||
                                           text_equal(target.name, ipam);
        _cleanup_(freep) char *place = artifact_place(places, target.target);
        int there;

        if (!needed || (host && !place) || artifact_find(lock, target.name))
            continue;
        there = host && host_file_type(host, place) == HOST_FILE ? is_ours(host, place, err) : 0;
        if (there < 0)
            return -1;
        if (!there)
            text_list_add(ret, target.name);
    }
    return 0;
}
