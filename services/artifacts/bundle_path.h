/* Which paths a bundle may name: its own files, and the program folders of a node. Pure. */
#pragma once

#include <stdbool.h>

/* Relative, with '/', no "." or ".." or empty part, no drive, backslash or control character. */
bool bundle_path_is_safe(const char *path);
/* What is wrong with it, said behind its name ("leads out of the archive"); NULL: it is safe. */
const char *bundle_path_fault(const char *path);
/* A file under C:\k, C:\opt\cni\bin or C:\Program Files\containerd by Windows' rules (no "..", no
 * stream, no part that ends in a dot or blank). */
bool bundle_target_is_safe(const char *target);
