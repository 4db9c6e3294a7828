/* A library's functions replaced by ours, in a process of Wine's. */
#pragma once

#include <windows.h>

/* The entry of the export table leads to `ours` from now on; answers Wine's own function (also when
 * nothing could be replaced). For programs that ask by name when they first need it: Go's. */
void *export_replace(HMODULE library, const char *name, void *ours);
/* The same for the import table of the program itself, for functions it was linked with. */
void *import_replace(HMODULE library, const char *name, void *ours);
/* Both. */
void *function_replace(HMODULE library, const char *name, void *ours);
