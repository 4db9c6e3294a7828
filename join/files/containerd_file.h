/* containerd's config.toml: winjoin's own, with what only the owner of the machine knows. */
#pragma once

#include "join/join.h"

/* The file's text: of the one that stands there root, state, imports and config_path are kept. The
 * caller frees. */
char *containerd_file_make(struct host *host, struct join_found *found);
