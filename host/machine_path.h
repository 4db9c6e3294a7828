/* The machine's Path, where Windows keeps it: one folder is added to it or taken out, all else of
 * it, and its kind (REG_EXPAND_SZ), stays as it is. Sessions that are open keep the old one. */
#pragma once

#include "host/host.h"

#define MACHINE_PATH_KEY "SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Environment"
#define MACHINE_PATH_VALUE "Path"
/* What Windows' own editor of the environment and setx can still change. */
enum { MACHINE_PATH_MAX = 2047 };

enum machine_path {
    MACHINE_PATH_HAS,   /* in either case, in quotes or with '\\' at its end */
    MACHINE_PATH_LACKS, /* and can take it */
    MACHINE_PATH_FULL,  /* it would be longer than MACHINE_PATH_MAX */
};
/* Kinds: those of host_registry_get(), but no Path at all is one that lacks the folder. */
int machine_path_look(struct host *host, const char *folder, enum machine_path *ret,
                      struct error *err);
/* Adds it at the end, or takes out the last entry that is it; done already is success. Kinds: those
 * of host_registry_set(). */
int machine_path_set(struct host *host, const char *folder, bool on, struct error *err);
