/* Adds a folder to the machine's Path variable in the registry, or removes it. The other entries
 * and the type (REG_EXPAND_SZ) stay unchanged. Open sessions keep the old value. */
#pragma once

#include "host/host.h"

#define MACHINE_PATH_KEY "SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Environment"
#define MACHINE_PATH_VALUE "Path"
/* The longest Path that Windows' own environment editor and setx can still change. */
enum { MACHINE_PATH_MAX = 2047 };

enum machine_path {
    /* The folder is in the Path, in any letter case, quoted or with '\\' at its end. */
    MACHINE_PATH_HAS,
    MACHINE_PATH_LACKS, /* The folder is not in the Path and can be added. */
    MACHINE_PATH_FULL,  /* With the folder, the Path would be longer than MACHINE_PATH_MAX. */
};
/* Checks whether the folder is in the Path. A missing Path gives MACHINE_PATH_LACKS. Failure kinds
 * are those of host_registry_get(). */
int machine_path_check(struct host *host, const char *folder, enum machine_path *ret,
                       struct error *err);
/* Adds the folder at the end, or removes the last entry that names it. Succeeds when nothing has to
 * change. Failure kinds are those of host_registry_set(). */
int machine_path_set(struct host *host, const char *folder, bool on, struct error *err);
