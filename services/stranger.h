/* Whose the places are that programs are run from and files are believed in: on a server where
 * others may log on, what lies in a node's folder is not therefore the node's. */
#pragma once

#include "host/host.h"

/* What somebody else than SYSTEM, Administrators, TrustedInstaller or who runs this process has put
 * there. stranger_free(). */
struct stranger {
    char *path;     /* a folder or file; NULL: there is none */
    char *why;      /* "'C:\\k' is a junction" */
    bool is_inside; /* directly in the folder that was asked about, not above it */
    bool is_folder, is_link;
};
void stranger_free(struct stranger *stranger);
/* The first component of a path, from the drive on, that is a stranger's. What is absent is
 * nobody's. Kinds: those of host_is_admins(). */
int stranger_in_path(struct host *host, const char *path, struct stranger *ret, struct error *err);
/* The same of a folder, then of each file and folder directly in it but those of these paths (or
 * NULL). */
int stranger_in_folder(struct host *host, const char *folder, const struct text_list *but,
                       struct stranger *ret, struct error *err);
/* ERROR_DENIED that names what stranger_in_path() found, with what repairs it as a hint. */
int stranger_refuse(struct host *host, const char *path, struct error *err);
/* The same of stranger_in_folder(). */
int stranger_refuse_in(struct host *host, const char *folder, const struct text_list *but,
                       struct error *err);
/* The command that takes it out of the way: it moves a folder with all that is in it, and removes
 * one file, or a junction but not what that leads to. The caller frees. */
char *stranger_repair(const struct stranger *stranger);
