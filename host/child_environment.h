/* What programs that winjoin starts find in their environment: no secret of ours. */
#pragma once

#include <stdbool.h>

/* Is it a variable of winjoin's own that holds a secret: WINJOIN_TOKEN, WINJOIN_DISCOVERY_TOKEN ...
 * (in any case)? Such a one is taken out of the environment when it is read. */
bool child_variable_is_ours(const char *name);
/* One of our variables, "NAME=value", as a program that is started finds it; NULL: not at all. None
 * of winjoin's own (WINJOIN_...) is handed on. Of a proxy (HTTPS_PROXY ...) user and password are
 * left out, unless the program `talks` through it. The caller frees. */
char *child_variable(const char *item, bool talks);
