/* What the file of a Windows program says about itself. Its bytes are not trusted.
 *
 * Sources: Microsoft's PE format (headers, sections, resources), VS_VERSIONINFO; Go's
 * debug/buildinfo and runtime/debug.ParseBuildInfo (Go 1.18 and newer). */
#pragma once

#include <stddef.h>

#include "base/error.h"
#include "host/host.h"

/* Checks that the file is a complete program (no library) for 64-bit Windows on x86. Otherwise
 * fails with ERROR_MALFORMED and says what it is. */
int program_image_check(const char *data, size_t len, struct error *err);
/* Returns the version of a program ("v1.37.1"). It is the value that the linker set in Go's
 * variables (Kubernetes' gitVersion, the Version of the program's own module), or the version of
 * its module, or the product version of its version resource, or the commit that Go recorded
 * ("git-1234567890ab"). NULL when the file names no version; the caller frees it. */
char *program_image_version(const char *data, size_t len);

/* Reads the version of a program ("v1.37.1") from its file (services/artifacts/program_image.h).
 * Where the file has none and `may_run` is set, it runs `PROGRAM --version` and takes the version,
 * or the first line where there is no version. Returns 1 (the caller frees *ret), or 0 when the
 * program is absent, or its file has no version and it may not be run. Fails with ERROR_DENIED (an
 * untrusted user put the file there: it is neither read nor run), ERROR_MALFORMED (a broken file),
 * ERROR_HOST (the program fails), or as program_ask(). */
int program_version_read(struct host *host, const char *program, bool may_run, char **ret,
                         struct error *err);
