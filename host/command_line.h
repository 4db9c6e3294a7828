/* Command lines of Windows as text, by CommandLineToArgvW's rules. Pure. */
#pragma once

#include "base/text.h"

/* One line of these words, NULL behind the last (or instead of the list); the caller frees. */
char *command_line_make(const char *const *words);
/* Its words again; a quote that is not closed ends with the line. */
void command_line_words(const char *line, struct text_list *ret);
