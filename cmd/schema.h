/* JSON Schemas (2020-12) of every document that winjoin prints, publishes or reads: of
 * templates/documents.yaml, and of the tables by which configuration is read. */
#pragma once

#include "base/json.h"

/* Their names, those that are printed first, and what prints or reads each, in the same order. */
void schema_names(struct text_list *names, struct text_list *of);
/* NULL: no document has that name. New reference. */
json_t *schema_make(const char *name);
