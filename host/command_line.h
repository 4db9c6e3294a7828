/* What a program that is started gets, as text: its command line, by CommandLineToArgvW's rules,
 * and its environment, with no secret of ours. Pure. */
#pragma once

#include <stdbool.h>

#include "base/text.h"

/* One line of these words, NULL behind the last (or instead of the list); the caller frees. */
char *command_line_make(const char *const *words);
/* Its words again; a quote that is not closed ends with the line. */
void command_line_words(const char *line, struct text_list *ret);

/* Is it a variable of winjoin's own that holds a secret: WINJOIN_TOKEN, WINJOIN_DISCOVERY_TOKEN ...
 * (in any case)? Such a one is taken out of the environment when it is read. */
bool child_variable_is_ours(const char *name);
/* One of our variables, "NAME=value", as a program that is started finds it; NULL: not at all. None
 * of winjoin's own (WINJOIN_...) is handed on. Of a proxy (HTTPS_PROXY ...) user and password are
 * left out, unless the program `talks` through it. The caller frees. */
char *child_variable(const char *item, bool talks);
