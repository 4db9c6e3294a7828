/* Finds the known name that is most similar to a mistyped word, for hints like "did you mean
 * x?". */
#pragma once

#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

/* Returns the most similar of `count` names, or NULL when no name is similar. The edit distance may
 * be at most 3 and at most a third of the name's length; letter case and '_' instead of '-' do not
 * count. When no name is that similar and the word has at least 3 letters, returns the shortest
 * name that begins with the word. Words of 64 bytes or more get NULL. */
const char *nearest_name(const char *word, const char *const *names, size_t count);
/* Adds the hint "did you mean <before><name>?" when a name is similar to the word. Returns -1. */
int nearest_hint(struct error *err, const char *before, const char *word, const char *const *names,
                 size_t count);
/* Returns 0 when `value` is one of the choices in "a|b|c". Else fails with ERROR_USAGE "use one of
 * a, b, c" and a hint with the most similar choice. The caller adds a prefix to the message. */
int choice_check(const char *choices, const char *value, struct error *err);

/* ---- checking names against tables ---- */

/* Returns the item of `names` that equals `name`, or NULL. `names` is NULL, or ends with NULL. */
const char *name_find(const char *const *names, const char *name);
/* Joins names as "overlay, l2bridge or nat". The caller frees the text. */
char *name_list(const struct text_list *names);
/* Returns 0 when `name` is one of `names`. Else fails with ERROR_USAGE: the message says `what` it
 * is ("network mode") and lists the valid names, and a hint has the most similar one. */
int name_check(const char *what, const char *name, const struct text_list *names,
               struct error *err);
