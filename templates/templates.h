/* The text files of this folder as they were at build time (dist/make/embed.py). */
#pragma once

#include <stddef.h>

struct template {
    const char *name; /* the file's name in templates/ */
    const char *data; /* its bytes, with a NUL behind them */
    size_t len;
};

/* Ends with a row whose name is NULL. */
extern const struct template templates[];
