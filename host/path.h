/* Handles Windows paths as text: normal form, parent folder and last name. Nothing here looks at
 * the file system. The caller frees each char * that a function returns or stores through a
 * pointer. */
#pragma once

#include "base/error.h"

/* Converts a path to its normal form: '\\' between names, no "." and no empty names, no '\\' at the
 * end (except in "C:\\"), upper-case drive letter. Refuses with ERROR_USAGE: "..", device prefixes
 * (\\\\.\\, \\\\?\\), relative paths, and characters that Windows forbids in names. UNC paths are
 * allowed. */
int path_normalize(const char *path, char **ret, struct error *err);
/* Prepares a path from a person for path_normalize(): removes the prefix \\\\?\\ or \\\\.\\ before
 * a drive or a server, and resolves ".." from the text alone, as Windows does (above a root, ".."
 * has no effect). Relative paths and device paths stay unchanged. */
char *path_plain(const char *path);
/* Returns the folder of a normalized path, or NULL for a root ("C:\\"). */
char *path_parent(const char *path);
/* Returns the last name of a path with '\\' or '/' between names. It points into the path. */
const char *path_base(const char *path);
/* Returns a path of struct host as users of this system write it: on Linux, a file on drive Z:
 * becomes "/tmp/x"; all other paths stay. Implemented in host/posix/terminal.c and
 * host/win32/terminal.c. */
char *path_shown(const char *path);
