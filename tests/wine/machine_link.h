/* Symbolic links of the machine below Wine: read, made, renamed and removed as such. */
#pragma once

#include <stdbool.h>
#include <windows.h>

enum { MACHINE_PATH_ROOM = 2048 };

/* Wine 8 looks through a link of the machine: it renames and deletes what the link points to, and
 * does not show one that leads nowhere. So the kernel is asked itself. Each answers false, with the
 * last error set, when it fails. */

/* true when the path is a link; its target (a path of the machine) into `target`. Leaves the last
 * error as it was. */
bool machine_link_read(const WCHAR *path, char target[MACHINE_PATH_ROOM]);
/* `target` is a path of Windows: an absolute one, or one relative to the link's folder. */
bool machine_link_make(const WCHAR *link, const WCHAR *target);
/* Replaces what is at `to`. */
bool machine_link_rename(const WCHAR *from, const WCHAR *to);
bool machine_link_remove(const WCHAR *path);
/* Removes the links in a folder that lead nowhere. */
void machine_link_sweep(const WCHAR *folder);
/* A link's target as Windows would say it; `relative` tells its kind. */
bool machine_link_windows(const char *target, WCHAR *out, size_t room, bool *relative);
