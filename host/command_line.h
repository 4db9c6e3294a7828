/* Prepares what a child program receives as text: its command line by CommandLineToArgvW's rules,
 * and its environment without winjoin's secrets. These functions do not call the operating system.
 */
#pragma once

#include <stdbool.h>

#include "base/text.h"

/* Joins the words into one command line; free() it. `words` ends with NULL and may be NULL. */
char *command_line_make(const char *const *words);
/* Splits a command line into words. A quote that is not closed ends at the end of the line. */
void command_line_words(const char *line, struct text_list *ret);

/* Is this one of winjoin's own variables that hold a secret, such as WINJOIN_TOKEN or
 * WINJOIN_DISCOVERY_TOKEN (in any letter case)? Such a variable is removed from the environment
 * when it is read. */
bool child_variable_is_ours(const char *name);
/* Returns a variable "NAME=value" of this process as a child program should receive it; NULL when
 * the child must not receive it. Winjoin's own variables (WINJOIN_...) are not passed on. User and
 * password are removed from proxy variables (HTTPS_PROXY ...), unless the child `talks` through the
 * proxy itself. The caller frees the text. */
char *child_variable(const char *item, bool talks);
