/* The nearest of some names for a mistyped word: "did you mean". */
#pragma once

#include <stddef.h>

#include "base/error.h"

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
