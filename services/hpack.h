/* Header fields as HTTP/2 sends them: HPACK (RFC 7541), as much of it as a client reads that allows
 * its server no dynamic table (SETTINGS_HEADER_TABLE_SIZE 0). */
#pragma once

#include <stddef.h>

#include "base/error.h"

/* A field with a value of its own. `name` is "" when it is one of the static table's. */
typedef void hpack_field(void *context, const char *name, const char *value);
/* Tells the fields of a whole header block, in their order. ERROR_MALFORMED: it is cut off, or
 * refers to a dynamic table. */
int hpack_read(const void *block, size_t len, hpack_field *field, void *context, struct error *err);
