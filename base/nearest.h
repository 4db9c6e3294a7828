/* The nearest of some names for a mistyped word: "did you mean". */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stddef.h>

/* The nearest of `count` names, or NULL when none is near: Levenshtein's distance of 3 at most, and
 * of a third of the name, without regard to case and to "_" for "-". Words of 64 bytes and more
 * have no neighbour. */
const char *nearest_name(const char *word, const char *const *names, size_t count);

#endif
