/* Known problems of Windows builds and updates that break the network of Pods, and registry values
 * that upstream sets against them. Both tables name the source of each row. preflight,
 * capabilities, diag, `join --apply-host-fixes` and docs/windows-builds.md use them. */
#pragma once

#include "host/host.h"

/* A registry value (REG_DWORD under HKLM) that upstream sets. Windows reads it when it starts. */
struct host_fix {
    const char *key, *value;
    uint32_t data;
    unsigned build;    /* The Windows build, e.g. 20348; 0 = every build. */
    unsigned from, to; /* The fix is for revisions [from, to); `to` 0 means no upper limit. */
    const char *why, *source;
};
extern const struct host_fix host_fixes[]; /* The table of fixes; the last row has no key. */
/* Is the fix for this Windows? */
bool host_fix_applies(const struct host_fix *fix, const struct host_facts *facts);
/* Sets *ret when the registry has this value. Fails as host_registry_get(); ERROR_ABSENT is no
 * failure but false. */
int host_fix_is_set(struct host *host, const struct host_fix *fix, bool *ret, struct error *err);
/* Returns the fixes that this Windows lacks: [{key,value,data,everyBuild,problem?,why,source}].
 * `problem` is the id of the problem that the fix would solve here. New reference; NULL with err
 * when the registry cannot be read. */
json_t *host_fixes_missing_json(struct host *host, const struct host_facts *facts,
                                struct error *err);

struct windows_problem {
    const char *id; /* The update that brings or solves it, e.g. "KB5040437"; stable. */
    unsigned build; /* The Windows build, e.g. 20348. */
    /* Revisions [from, to) have the problem; to 0 means that no update solves it. */
    unsigned from, to;
    const char *breaks, *fix;
    const char *override; /* Value name of the host fix that solves the problem, too; or NULL. */
    const char *source;
};
/* The table of problems; the last row has no id. */
extern const struct windows_problem windows_problems[];
/* Returns the problems that this Windows has and no host fix in its registry solves:
 * [{id,breaks,fix,override?,source}]. Empty when build or revision are unknown. New reference; NULL
 * with err when the registry cannot be read. */
json_t *windows_problems_json(struct host *host, const struct host_facts *facts, struct error *err);

/* Returns the common name, e.g. "Server 2022", of a long-term build that upstream publishes Windows
 * images for; NULL for others. */
const char *windows_build_name(unsigned build);
