/* The manual pages, made of the same tables as --help. */
#ifndef CMD_MAN_PAGE_H
#define CMD_MAN_PAGE_H

#include "cmd/program.h"

/* Adds a page in roff's man macros (man(7)): winjoin-NAME(1) of one verb, or, with NULL, winjoin(1)
 * with all commands that are not hidden. Cannot fail. */
void man_page(const struct verb *verb, struct text *out);

#endif
