/* Windows paths as text: one spelling, parent, last name. Pure. */
#pragma once

#include "base/error.h"

/* The one spelling: '\\' between names, no "." or empty names, no '\\' at the end (but "C:\\"),
 * drive letter upper-case; "..", device names' prefixes (\\\\.\\, \\\\?\\), relative paths and
 * characters that Windows forbids in names are refused with ERROR_USAGE. UNC paths stay. The caller
 * frees. */
int path_normalize(const char *path, char **ret, struct error *err);
/* A path as a person gives it, nearer to that: the prefix \\\\?\\ or \\\\.\\ before a drive or a
 * server goes, and ".." is taken back as Windows does, by the text alone (a root has none above
 * it). What is not absolute, or a device's, stays as it is. The caller frees. */
char *path_plain(const char *path);
/* The folder of a normalized path, or NULL for a root ("C:\\"). The caller frees. */
char *path_parent(const char *path);
/* The last name of a path with '\\' or '/' (borrowed from it). */
const char *path_base(const char *path);
/* A path of struct host as the system at hand writes it: on Linux a file of this machine (drive Z:)
 * is "/tmp/x" again, the rest stays. Platform files: host/posix/terminal.c, host/win32/terminal.c.
 * The caller frees. */
char *path_shown(const char *path);
