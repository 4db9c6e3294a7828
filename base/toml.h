/* TOML 1.0 as JSON, for the configuration files of other programs. */
#pragma once

#include "base/json.h"

/* Reads a TOML text: a table is an object, strings, arrays, true, false and decimal integers are
 * what they are, other values (dates, floats, 0x10) the text that stands there. A key that is set
 * twice has its last value. `what` names the text in the message. *ret is a new reference. Fails
 * with ERROR_MALFORMED: "decode config.toml: line 7: ...". */
int toml_parse(const char *text, size_t len, const char *what, json_t **ret, struct error *err);
