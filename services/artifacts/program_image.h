/* What the file of a Windows program says of itself. The bytes come from outside.
 *
 * Facts: Microsoft's PE format (headers, sections, resources), VS_VERSIONINFO; Go's
 * debug/buildinfo and runtime/debug.ParseBuildInfo (Go 1.18 and newer). */
#pragma once

#include <stddef.h>

#include "base/error.h"
#include "host/host.h"

/* Is it a whole program for 64-bit Windows on x86 (no library)? ERROR_MALFORMED says what else. */
int program_image_check(const char *data, size_t len, struct error *err);
/* Its version ("v1.37.1"): what the linker was told to set in Go's variables (Kubernetes'
 * gitVersion, the Version of the program's own module), else its module's version, else the
 * product version of its version resource, else the commit that Go notes ("git-1234567890ab"). NULL
 * when it says none; the caller frees. */
char *program_image_version(const char *data, size_t len);

/* Which version it is ("v1.37.1"): by what its file says (services/artifacts/program_image.h);
 * where that says none and it may be run, by `PROGRAM --version`, whose first line it is when no
 * version is in it. 1 (the caller frees *ret), 0 when the program is not there or its file, which
 * may not be run, says none. Kinds: ERROR_DENIED (somebody else has put it there: it is neither
 * read nor run), ERROR_MALFORMED (a broken file), ERROR_HOST (it fails), those of program_ask(). */
int program_version_read(struct host *host, const char *program, bool may_run, char **ret,
                         struct error *err);
