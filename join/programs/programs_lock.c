/* Compares the programs on this machine with artifacts.lock or, without a lock, with the digests
 * that upstream publishes. */
#include "join/programs/programs.h"

enum { LOCK_MAX = 1024 * 1024 };

int programs_unlike(struct join *join, struct text_list *ret, struct error *err) {
    const struct join_options *o = &join->found.options;
    const struct mirror from = {.host = join->host, .http = join->http, .url = o->source_base};
    const struct artifacts *known = &join->found.known;
    _cleanup_(text_list_free) struct text_list needed = {0}, here = {0};
    _cleanup_(freep) char *lock = NULL;
    bool unread;
    size_t len;

    if (programs_missing(NULL, &join->found, NULL, &needed, err) < 0)
        return -1;
    for (size_t i = 0; i < needed.count; i++)
        if (!text_list_has(ret, needed.items[i]))
            text_list_add(&here, needed.items[i]);
    unread = !known->items && here.count;
    if (unread && o->lock &&
        (host_read_text(join->host, o->lock, LOCK_MAX, &lock, &len, err) < 0 ||
         artifact_lock_parse(lock, len, &join->found.known, NULL, err) < 0))
        return error_prefix(err, "lock '%s'", o->lock);
    if (unread && !o->lock &&
        artifacts_published(&from, &here, o->catalog, &join->found.known, err) < 0)
        return -1;
    for (size_t i = 0; i < here.count; i++) {
        const struct artifact *artifact = artifact_find(known, here.items[i]);
        bool same = false;

        if (!artifact || !*artifact->sha256)
            continue;
        if (artifact_is_installed(join->host, artifact, &same, err) < 0)
            return -1;
        if (same)
            continue;
        text_list_add(ret, artifact->name);
        if (!o->lock)
            join_warn(&join->progress,
                      "'%s' is not what upstream publishes as %s: it is downloaded again",
                      artifact->target, artifact->version);
    }
    return 0;
}

int programs_say_uncompared(struct join *join, const struct artifacts *bundle, struct error *err) {
    _cleanup_(text_list_free) struct text_list needed = {0}, unknown = {0};
    _cleanup_(freep) char *names = NULL;

    if (programs_missing(NULL, &join->found, bundle, &needed, err) < 0)
        return -1;
    for (size_t i = 0; i < needed.count; i++) {
        const struct artifact *known = artifact_find(&join->found.known, needed.items[i]);

        if (!known || !*known->sha256)
            text_list_add(&unknown, needed.items[i]);
    }
    names = text_list_join(&unknown, ", ");
    if (unknown.count)
        text_addf(&join->progress.detail, "; not compared with a digest: %s", names);
    return 0;
}
