/* The text files of this folder as they were at build time (dist/make/embed.py). */
#pragma once

#include <string.h>

struct template {
    const char *name; /* the file's name in templates/ */
    const char *data; /* its bytes, with a NUL behind them */
    size_t len;
};

/* Ends with a row whose name is NULL. */
extern const struct template templates[];

/* By name; the last row where there is none. */
static inline const struct template *template_find(const char *name) {
    const struct template *found = templates;

    while (found->name && strcmp(found->name, name) != 0)
        found++;
    return found;
}
