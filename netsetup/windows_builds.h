/* What is known of Windows builds and their updates: which break pods' networks, and which registry
 * values upstream sets against that. Two tables, each row with its source; preflight, capabilities,
 * diag, `join --apply-host-fixes` and docs/windows-builds.md are made of them. */
#pragma once

#include "host/host.h"

/* A registry value (REG_DWORD under HKLM) that upstream sets. Windows reads them as it starts. */
struct host_fix {
    const char *key, *value;
    uint32_t data;
    unsigned build;    /* 20348; 0 = every build */
    unsigned from, to; /* revisions [from, to) that it is for; to 0: all from `from` on */
    const char *why, *source;
};
extern const struct host_fix host_fixes[]; /* ended by a row without a key */
/* true when the fix is for this Windows. */
bool host_fix_applies(const struct host_fix *fix, const struct host_facts *facts);
/* *ret: the registry holds that value. Kinds: those of host_registry_get(), but for ERROR_ABSENT,
 * which is false. */
int host_fix_is_set(struct host *host, const struct host_fix *fix, bool *ret, struct error *err);
/* Those that this Windows lacks, as [{key,value,data,everyBuild,problem?,why,source}], `problem`
 * the id of the one that it would end here; a new reference; NULL with err when the registry cannot
 * be read. */
json_t *host_fixes_missing_json(struct host *host, const struct host_facts *facts,
                                struct error *err);

struct windows_problem {
    const char *id;    /* the update that brought it or that lacks: "KB5040437"; stable */
    unsigned build;    /* 20348 */
    unsigned from, to; /* revisions [from, to) have it; to 0: no update is known to end it */
    const char *breaks, *fix;
    const char *override; /* value name of the host fix that ends it, too; or NULL */
    const char *source;
};
extern const struct windows_problem windows_problems[]; /* ended by a row without an id */
/* Those that this Windows has and no host fix in its registry ends, as
 * [{id,breaks,fix,override?,source}]. Without a build or a revision: empty. A new reference; NULL
 * with err when the registry cannot be read. */
json_t *windows_problems_json(struct host *host, const struct host_facts *facts, struct error *err);

/* The long-term builds that upstream publishes Windows images for, by what people call them:
 * "Server 2022"; NULL for others. */
const char *windows_build_name(unsigned build);
