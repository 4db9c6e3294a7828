/* Which version a program on this machine is. */
#pragma once

#include "host/host.h"

/* Which version it is ("v1.37.1"): by what its file says (services/artifacts/program_image.h);
 * where that says none and it may be run, by `PROGRAM --version`, whose first line it is when no
 * version is in it. 1 (the caller frees *ret), 0 when the program is not there or its file, which
 * may not be run, says none. Kinds: ERROR_DENIED (somebody else has put it there: it is neither
 * read nor run), ERROR_MALFORMED (a broken file), ERROR_HOST (it fails), those of program_ask(). */
int program_version_read(struct host *host, const char *program, bool may_run, char **ret,
                         struct error *err);
