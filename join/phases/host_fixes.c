/* Registry values, each written down before it is set. */
#include "join/phases/steps.h"

#include "netsetup/agents/agent.h"
#include "netsetup/hns/hcn_network.h"
#include "netsetup/windows_builds.h"

#define HNS_SERVICE "hns"
enum { HNS_RESTART_MS = 60000 };

/* What stands there now, for the journal; only a number can be restored. */
static int before_json(struct join *join, const struct host_fix *fix, json_t **ret,
                       struct error *err) {
    _cleanup_(freep) char *found = NULL;
    struct error why = {0};
    char *end;
    unsigned long number;

    *ret = NULL;
    if (host_registry_get(join->host, fix->key, fix->value, &found, &why) < 0)
        return why.kind == ERROR_ABSENT ? 0 : error_pass(err, &why);
    number = strtoul(found, &end, 10);
    if (!*found || *end || number > UINT32_MAX)
        return error_set(err, ERROR_CONFLICT, "set registry value '%s\\%s': it is not a number now",
                         fix->key, fix->value);
    *ret = json_pack("{s:I}", "data", (json_int_t)number);
    return 0;
}

static int apply(struct join *join, const struct host_fix *fix, struct error *err) {
    _cleanup_(freep) char *target = xasprintf("%s\\%s", fix->key, fix->value);
    _cleanup_(freep) char *data = xasprintf("%u", (unsigned)fix->data);
    json_t *before;

    if (before_json(join, fix, &before, err) < 0 ||
        journal_record(&join->journal, JOURNAL_REGISTRY, target, before, err) < 0 ||
        host_registry_set(join->host, fix->key, fix->value, true, data, err) < 0)
        return -1;
    join_warn(&join->progress, "set HKLM\\%s to %s: %s; restart Windows once for it", target, data,
              fix->why);
    return 0;
}

int host_fixes_apply(struct join *join, struct error *err) {
    bool wanted = join->found.options.apply_host_fixes;

    for (const struct host_fix *fix = host_fixes; wanted && fix->key; fix++) {
        bool set;

        if (!host_fix_applies(fix, &join->found.facts))
            continue;
        if (host_fix_is_set(join->host, fix, &set, err) < 0 || (!set && apply(join, fix, err) < 0))
            return error_prefix(err, "apply the host fixes");
    }
    return 0;
}

/* A run that was killed may have set it, and HNS not read it: no network stands then. */
static bool is_read(struct join *join, const char *target) {
    struct hcn_network network;

    return !journal_has(&join->journal, JOURNAL_REGISTRY, target) ||
           hcn_network_find(join->host, join->found.plan.base_name, &network, ERROR_IGNORED) == 0;
}

int agent_registry_apply(struct join *join, struct error *err) {
    const struct agent_registry *wanted = join->found.plan.agent->registry;
    _cleanup_(freep) char *found = NULL, *target = NULL;
    struct error why = {0};

    if (!wanted)
        return 0;
    target = xasprintf("%s\\%s", wanted->key, wanted->value);
    if (host_registry_get(join->host, wanted->key, wanted->value, &found, &why) < 0 &&
        why.kind != ERROR_ABSENT)
        return error_pass(err, &why);
    if (text_equal(found, wanted->text) && is_read(join, target))
        return 0;
    if (journal_record(&join->journal, JOURNAL_REGISTRY, target,
                       found ? json_pack("{s:s}", "data", found) : NULL, err) < 0 ||
        host_registry_set(join->host, wanted->key, wanted->value, false, wanted->text, err) < 0)
        return -1;
    text_addf(&join->progress.detail, "%s set, HNS restarted; ", wanted->value);
    if (host_service_stop(join->host, HNS_SERVICE, HNS_RESTART_MS, err) < 0)
        return -1;
    return host_service_start(join->host, HNS_SERVICE, HNS_RESTART_MS, err);
}
