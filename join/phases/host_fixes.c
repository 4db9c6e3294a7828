/* Registry values against known faults of this Windows, each written down before it is set. */
#include "join/phases/host_fixes.h"

#include <stdlib.h>

#include "base/memory.h"
#include "netsetup/windows_builds.h"

/* What stands there now, for the journal; only a number can be restored. */
static int before_json(struct join *join, const struct host_fix *fix, json_t **ret,
                       struct error *err) {
    _cleanup_(freep) char *found = NULL;
    struct error why = {0};
    char *end;
    unsigned long number;

    *ret = NULL;
    if (host_registry_get(join->host, fix->key, fix->value, &found, &why) < 0)
        return why.kind == ERROR_ABSENT ? 0 : error_set(err, why.kind, "%s", why.message);
    number = strtoul(found, &end, 10);
    if (!*found || *end || number > UINT32_MAX)
        return error_set(err, ERROR_CONFLICT, "set registry value '%s\\%s': it is not a number now",
                         fix->key, fix->value);
    *ret = json_pack("{s:I}", "data", (json_int_t)number);
    return 0;
}

static int apply(struct join *join, const struct host_fix *fix, struct error *err) {
    _cleanup_(freep) char *target = xasprintf("%s\\%s", fix->key, fix->value);
    json_t *before;

    if (before_json(join, fix, &before, err) < 0 ||
        journal_record(&join->journal, JOURNAL_REGISTRY, target, before, err) < 0 ||
        host_registry_set(join->host, fix->key, fix->value, &fix->data, err) < 0)
        return -1;
    join_warn(&join->progress, "set HKLM\\%s to %u: %s; restart Windows once for it", target,
              (unsigned)fix->data, fix->why);
    return 0;
}

int host_fixes_apply(struct join *join, struct error *err) {
    size_t count;
    const struct host_fix *fixes = host_fixes(&count);

    for (size_t i = 0; join->found.options.apply_host_fixes && i < count; i++) {
        bool set;

        if (!host_fix_applies(&fixes[i], &join->found.facts))
            continue;
        if (host_fix_is_set(join->host, &fixes[i], &set, err) < 0 ||
            (!set && apply(join, &fixes[i], err) < 0))
            return error_prefix(err, "apply the host fixes");
    }
    return 0;
}
