/* Strict reading: what a YAML document may hold is a table of fields, and all else is an error that
 * names line and column. */
#ifndef BASE_YAML_SCHEMA_H
#define BASE_YAML_SCHEMA_H

#include "base/error.h"
#include "base/text.h"
#include "base/yaml.h"

enum yaml_field_type {
    YAML_FIELD_TEXT,
    YAML_FIELD_BOOL,
    YAML_FIELD_NUMBER, /* a whole one of 32 bits, as Go's int32 */
    YAML_FIELD_LEVEL,  /* likewise and not negative, as Go's uint32 */
    YAML_FIELD_INT64,
    YAML_FIELD_REAL,
    YAML_FIELD_ANY,             /* whatever YAML can hold */
    YAML_FIELD_DURATION,        /* Go's form, "1m30s"; not negative */
    YAML_FIELD_SIGNED_DURATION, /* as Go's own, which may be negative */
    YAML_FIELD_GIVEN_DURATION,  /* likewise, and null is none (in Go no pointer) */
    YAML_FIELD_FREQUENCY,       /* likewise, or nanoseconds as a number */
    YAML_FIELD_QUANTITY,        /* Kubernetes', "1Gi", or a number */
    YAML_FIELD_TIME,            /* RFC 3339 */
    YAML_FIELD_TEXTS,           /* a list of texts */
    YAML_FIELD_NUMBERS,         /* a list of whole numbers of 32 bits */
    YAML_FIELD_TEXT_MAP,        /* any names, each with a text */
    YAML_FIELD_BOOL_MAP,        /* likewise, with true or false */
    YAML_FIELD_TEXTS_MAP,       /* likewise, with a list of texts */
    YAML_FIELD_QUANTITY_MAP,
    YAML_FIELD_OBJECT,  /* with the fields of `fields` */
    YAML_FIELD_OBJECTS, /* a list of such */
};

/* One field; a table ends with a row without a name. */
struct yaml_field {
    const char *name; /* case matters */
    enum yaml_field_type type;
    const struct yaml_field *fields; /* of an object, or of each object of a list */
};

/* Checks a document against its table. null stands for "not given" everywhere, as in Go. The first
 * field that is not in the table or of another type is ERROR_USAGE: "what: line L column C: unknown
 * field "a.b"", with "did you mean" as a hint. Duplicate keys are refused by yaml_parse() already.
 * Values appear in no message: they may be secrets. */
int yaml_schema_check(const struct yaml_node *node, const struct yaml_field *fields,
                      const char *what, struct error *err);
/* The same for documents of another version's making: fields that are not in the table are no
 * error. The first YAML_UNKNOWN_MAX of them are added to *ret_unknown (NULL: nobody asks), as "a.b"
 * or "a.b" (did you mean c?), with the quotes. */
enum { YAML_UNKNOWN_MAX = 10 };
int yaml_schema_check_known(const struct yaml_node *node, const struct yaml_field *fields,
                            const char *what, struct text_list *ret_unknown, struct error *err);

#endif
