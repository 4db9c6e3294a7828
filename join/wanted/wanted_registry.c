/* Lists the registry values of a join for a dry run, or records and sets them. */
#include "join/wanted/wanted.h"

#include "host/machine_path.h"
#include "netsetup/agents/agent.h"
#include "netsetup/hns/hcn_network.h"
#include "netsetup/windows_builds.h"

#define HNS_SERVICE "hns"
enum { HNS_RESTART_MS = 60000 };

int wanted_registry(struct join *join, json_t **ret, struct error *err) {
    const struct agent_registry *agent = join->found.plan.agent->registry;
    bool fixes = join->found.options.apply_host_fixes;
    _cleanup_json_ json_t *list = NULL;
    enum machine_path path;

    if (machine_path_check(join->host, PROGRAM_FOLDER, &path, err) < 0 ||
        !(list =
              fixes ? host_fixes_missing_json(join->host, &join->found.facts, err) : json_array()))
        return -1;
    if (agent)
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:s, s:s}", "key", agent->key, "value",
                                        agent->value, "data", agent->text, "why", agent->why));
    if (path == MACHINE_PATH_LACKS)
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s}", "key", MACHINE_PATH_KEY,
                                              "value", MACHINE_PATH_VALUE, "adds", PROGRAM_FOLDER,
                                              "why", "its programs are found by name"));
    if (fixes || json_array_size(list))
        *ret = take_ptr(list);
    return 0;
}

/* Sets one value of a fix. The existing value must be a number, since only that can be restored. */
static int apply_fix(struct join *join, const json_t *fix, struct error *err) {
    const char *key = json_text_at(fix, "key"), *value = json_text_at(fix, "value");
    _cleanup_(freep) char *target = xasprintf("%s\\%s", key, value), *found = NULL;
    _cleanup_(freep) char *data = json_write(json_object_get(fix, "data"));
    unsigned long long number;
    char *end;

    if (host_registry_get(join->host, key, value, &found, err) < 0 &&
        error_forgive(err, ERROR_ABSENT) < 0)
        return -1;
    number = strtoull(found ? found : "", &end, 10); /* A long has only 32 bits on Windows */
    if (found && (!*found || *end || number > UINT32_MAX))
        return error_set(err, ERROR_CONFLICT, "set registry value '%s': it is not a number now",
                         target);
    if (journal_record(&join->journal, JOURNAL_REGISTRY, target,
                       found ? json_pack("{s:I}", "data", (json_int_t)number) : NULL, err) < 0 ||
        host_registry_set(join->host, key, value, true, data, err) < 0)
        return -1;
    join_warn(&join->progress, "set HKLM\\%s to %s: %s; restart Windows once for it", target, data,
              json_text_at(fix, "why"));
    return 0;
}

int host_fixes_apply(struct join *join, struct error *err) {
    _cleanup_json_ json_t *missing = NULL;
    int result = 0;

    if (!join->found.options.apply_host_fixes)
        return 0;
    missing = host_fixes_missing_json(join->host, &join->found.facts, err);
    for (size_t i = 0; i < json_array_size(missing) && result == 0; i++)
        result = apply_fix(join, json_array_get(missing, i), err);
    return missing && result == 0 ? 0 : error_prefix(err, "apply the host fixes");
}

int agent_registry_apply(struct join *join, struct error *err) {
    const struct agent_registry *wanted = join->found.plan.agent->registry;
    _cleanup_(freep) char *found = NULL, *target = NULL;
    struct hcn_network network;

    if (!wanted)
        return 0;
    target = xasprintf("%s\\%s", wanted->key, wanted->value);
    if (host_registry_get(join->host, wanted->key, wanted->value, &found, err) < 0 &&
        error_forgive(err, ERROR_ABSENT) < 0)
        return -1;
    /* A killed run may have set the value before HNS was restarted. When HNS has no network of
     * winjoin, it may not have read the value, so it is set again. */
    if (text_equal(found, wanted->text) &&
        (!journal_find(&join->journal, JOURNAL_REGISTRY, target) ||
         hcn_network_find(join->host, join->found.plan.base_name, &network, ERROR_IGNORED) == 0))
        return 0;
    if (journal_record(&join->journal, JOURNAL_REGISTRY, target,
                       found ? json_pack("{s:s}", "data", found) : NULL, err) < 0 ||
        host_registry_set(join->host, wanted->key, wanted->value, false, wanted->text, err) < 0)
        return -1;
    text_addf(&join->progress.detail, "%s set, HNS restarted; ", wanted->value);
    return host_service_stop(join->host, HNS_SERVICE, HNS_RESTART_MS, err) < 0
               ? -1
               : host_service_start(join->host, HNS_SERVICE, HNS_RESTART_MS, err);
}

int machine_path_apply(struct join *join, struct error *err) {
    enum machine_path found;

    if (machine_path_check(join->host, PROGRAM_FOLDER, &found, err) < 0)
        return -1;
    if (found == MACHINE_PATH_FULL)
        join_warn(&join->progress,
                  "the machine's Path is not extended by " PROGRAM_FOLDER
                  ": it would be longer than %d characters",
                  MACHINE_PATH_MAX);
    if (found != MACHINE_PATH_LACKS)
        return 0;
    if (journal_record(&join->journal, JOURNAL_PATH, PROGRAM_FOLDER, NULL, err) < 0 ||
        machine_path_set(join->host, PROGRAM_FOLDER, true, err) < 0)
        return -1;
    text_add(&join->progress.detail, "; " PROGRAM_FOLDER " is on Path in new sessions");
    return 0;
}
