/* The text files in templates/, embedded in the program at build time by dist/make/embed.py. */
#pragma once

#include <string.h>

struct template {
    const char *name; /* Name of the file in templates/. */
    const char *data; /* Content of the file, with a NUL behind it. */
    size_t len;
};

/* The embedded files. The last row has a NULL name. */
extern const struct template templates[];

/* Finds a file by its name. Returns the last row (with a NULL name) when there is none. */
static inline const struct template *template_find(const char *name) {
    const struct template *found = templates;

    while (found->name && strcmp(found->name, name) != 0)
        found++;
    return found;
}
