/* The programs on this machine against artifacts.lock. */
#include "join/programs/programs.h"

enum { LOCK_MAX = 1024 * 1024 };

int programs_unlike_lock(struct join *join, struct text_list *ret, struct error *err) {
    const char *path = join->found.options.lock;
    _cleanup_(text_list_free) struct text_list needed = {0};
    _cleanup_(artifacts_free) struct artifacts lock = {0};
    _cleanup_(freep) char *text = NULL;
    size_t len;

    if (!path)
        return 0;
    if (host_read_text(join->host, path, LOCK_MAX, &text, &len, err) < 0 ||
        artifact_lock_parse(text, len, &lock, err) < 0)
        return error_prefix(err, "lock '%s'", path);
    if (programs_missing(NULL, &join->found, NULL, &needed, err) < 0)
        return -1;
    for (size_t i = 0; i < needed.count; i++) {
        const struct artifact *artifact = artifact_find(&lock, needed.items[i]);
        bool same = false;

        if (!artifact || text_list_has(ret, artifact->name))
            continue;
        if (artifact_is_installed(join->host, artifact, &same, err) < 0)
            return -1;
        if (!same)
            text_list_add(ret, artifact->name);
    }
    return 0;
}

int programs_check_lock(struct join *join, struct error *err) {
    _cleanup_(text_list_free) struct text_list unlike = {0};
    _cleanup_(freep) char *names = NULL;

    if (programs_unlike_lock(join, &unlike, err) < 0)
        return -1;
    names = text_list_join(&unlike, ", ");
    return unlike.count ? error_set(err, ERROR_UNTRUSTED,
                                    "programs are not those of lock '%s', and may not be "
                                    "downloaded: %s",
                                    join->found.options.lock, names)
                        : 0;
}
