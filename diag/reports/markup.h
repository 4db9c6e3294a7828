/* Escaping for XML and HTML. */
#pragma once

#include "base/text.h"

/* Adds text so that it appears literally in element content and in quoted attributes; control
 * characters, which XML 1.0 has no form for, become '?'. */
void markup_add(struct text *t, const char *s);
