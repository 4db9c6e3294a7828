/* Another function behind a name that a library exports. */
#ifndef TESTS_WINE_BCRYPTPRIMITIVES_EXPORTS_H
#define TESTS_WINE_BCRYPTPRIMITIVES_EXPORTS_H

#include <windows.h>

/* Answers the library's own function; it stays in place when the name cannot be replaced. */
void *export_replace(HMODULE library, const char *name, void *ours);

/* The same for what the program itself imports; answers the library's own function. */
void *import_replace(HMODULE library, const char *name, void *ours);

#endif
