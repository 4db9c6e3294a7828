/* The nearest of some names for a mistyped word: "did you mean". */
#pragma once

#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

/* The nearest of `count` names, or NULL when none is near: Levenshtein's distance of 3 at most, and
 * of a third of the name, without regard to case and to "_" for "-". Else the shortest
 * that begins with the word, from 3 letters on. Words of 64 bytes and more have no neighbour. */
const char *nearest_name(const char *word, const char *const *names, size_t count);
/* Adds the hint "did you mean <before><name>?" when one is near; returns -1. */
int nearest_hint(struct error *err, const char *before, const char *word, const char *const *names,
                 size_t count);
/* 0 when `value` is one of "a|b|c". Else ERROR_USAGE "use one of a, b, c", for the caller to
 * prefix, with the nearest as a hint. */
int choice_check(const char *choices, const char *value, struct error *err);

/* ---- names that tables offer: looked up, and refused with those that work ---- */

/* The one that equals `name` among names (NULL-ended; NULL = none), or NULL. */
const char *name_find(const char *const *names, const char *name);
/* "overlay, l2bridge or nat"; the caller frees. */
char *name_list(const struct text_list *names);
/* 0 when `name` is one of `names`. Else ERROR_USAGE, which says `what` it is ("network mode"),
 * which names work and which is the nearest. */
int name_check(const char *what, const char *name, const struct text_list *names,
               struct error *err);
