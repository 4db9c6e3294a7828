/* Command lines as Kubernetes' programs read them: --x=v, --x v, --bool, --bool=false; Go's flag
 * package (flanneld) also takes one dash. */
#pragma once

#include <stdbool.h>

struct flag {
    const char *name;
    const char **text; /* where the value goes; NULL and no `on`: taken and ignored */
    bool *on;          /* a flag without a value */
    const char *help;
};

/* One program: its flags (ended by a NULL name), what --version prints, whether the first words may
 * be no flags. */
struct program {
    const char *name;
    const char *version;
    const struct flag *flags;
};

/* -1: go on. Otherwise the exit code to end with: --help and --version were printed (0), or the
 * command line is refused (1), as upstream says it. */
int flags_parse(const struct program *program, int argc, char **argv);
