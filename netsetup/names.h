/* Names that tables offer: looked up, and refused with those that work. */
#pragma once

#include "base/error.h"
#include "base/text.h"

/* The one that equals `name` among names (NULL-ended; NULL = none), or NULL. */
const char *name_find(const char *const *names, const char *name);
/* "overlay, l2bridge or nat"; the caller frees. */
char *name_list(const struct text_list *names);
/* 0 when `name` is one of `names`. Else ERROR_USAGE, which says `what` it is ("network mode"),
 * which names work and which is the nearest. */
int name_check(const char *what, const char *name, const struct text_list *names,
               struct error *err);
