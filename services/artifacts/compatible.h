/* Which versions of a node's programs go together: a table of rows with their sources. Preflight,
 * the phase `programs`, capabilities and bundle read it. Pure. */
#pragma once

#include "base/json.h"

struct compatible {
    const char *program; /* name of an artifact, or "pause", the sandbox image */
    unsigned from, to;   /* minors of Kubernetes [from, to]; 0: no limit */
    unsigned build;      /* of Windows from which on it counts; 0: of each */
    /* "2.4.0 2.3.1": any newer than the first, and of each other MAJOR.MINOR that patch or a newer
     * one */
    const char *versions;
    const char *why, *source;
};
/* The first row that this version ("v2.4.2", or what `containerd --version` prints) does not meet,
 * with a kubelet of version `kubernetes` (NULL: not known) on this build of Windows (0: not known).
 * NULL: it meets all, or is no version. */
const struct compatible *compatible_breach(const char *program, const char *version,
                                           const char *kubernetes, unsigned build);
/* One sentence about it. The caller frees. */
char *compatible_message(const struct compatible *row, const char *version);
/* The sandbox image that fits both; `repository` NULL: upstream's. The caller frees. */
char *sandbox_image(const char *repository, const char *kubernetes, unsigned build);
/* [{program,kubernetes?,windowsBuild?,versions,why,source}] for this build (0: all), new reference.
 */
json_t *compatible_json(unsigned build);
