/* Reads TOML 1.0, in which other programs write their configuration files, as JSON. */
#pragma once

#include "base/json.h"

/* Reads TOML text as JSON. Tables become objects; strings, arrays, booleans and decimal integers
 * keep their types. All other values (dates, floats, 0x10) become strings with the text of the
 * file. When a key is set twice, the last value counts. `what` names the text in messages. *ret is
 * a new reference. Fails with ERROR_MALFORMED: "decode config.toml: line 7: ...". */
int toml_parse(const char *text, size_t len, const char *what, json_t **ret, struct error *err);
