/* Strict reading: what a YAML document may hold is a table of fields, and all else is an error that
 * names line and column. */
#pragma once

#include "base/yaml.h"

enum yaml_field_type {
    YAML_FIELD_TEXT,
    YAML_FIELD_BOOL,
    YAML_FIELD_NUMBER,   /* a whole one of 32 bits */
    YAML_FIELD_DURATION, /* Go's form, "1m30s"; not negative */
    YAML_FIELD_TIME,     /* RFC 3339 */
    YAML_FIELD_TEXTS,    /* a list of texts */
    YAML_FIELD_TEXT_MAP, /* any names, each with a text */
    YAML_FIELD_EMPTY,    /* an object without fields */
};

/* One field by its path: "network.mode", "releases[].name" in each object of a list. What is before
 * a dot is an object, without a row of its own. Case matters. A table ends with a row without a
 * path. */
struct yaml_field {
    const char *path;
    enum yaml_field_type type;
    unsigned versions; /* bits: those of the document that have it; 0 = each */
    const char *moved; /* its path in the others, or NULL */
};

/* Checks a document of `yaml`, of that version (a bit, or 0), against its table. null means "not
 * given" everywhere, as in Go. The first field that is not in the table or of another type is
 * ERROR_USAGE: "what: line L column C: unknown field "a.b"", with "did you mean" as a hint.
 * Duplicate keys are refused by yaml_read() already. Values appear in no message: they may be
 * secrets. */
int yaml_schema_check(const struct yaml *yaml, const json_t *document,
                      const struct yaml_field *fields, unsigned version, struct error *err);
/* The same for documents of which others read more: fields that are not in the table are not
 * looked at. */
int yaml_schema_check_known(const struct yaml *yaml, const json_t *document,
                            const struct yaml_field *fields, struct error *err);
