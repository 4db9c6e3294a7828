/* YAML: libyaml, its one home. A text becomes JSON values, and a table beside them says where each
 * stands in the text. */
#pragma once

#include "base/json.h"

/* Lines and columns count from 1. */
struct yaml_place {
    size_t line, column;
};

/* A text as it was read. Begins as {0}. */
struct yaml {
    char *what;        /* the text's name in messages */
    json_t *documents; /* an array; null for a document without content */
    struct yaml_entry *entries;
    size_t count;
};

/* Reads a stream of documents ("---") by YAML 1.2's core schema as Kubernetes reads it
 * (sigs.k8s.io/yaml: plain true/false, null/~, decimal numbers; all else strings). Refused with
 * ERROR_MALFORMED and "what: line L column C: ...": aliases and anchors, duplicate keys, tags other
 * than !!str, !!map and !!seq, merge keys, keys that are no scalars, more than 64 levels, more than
 * 4 MiB, bytes that are no UTF-8. JSON texts are YAML too. What is read may be secret: each copy is
 * overwritten before it is freed, but for what libyaml leaves behind when it moves a text that
 * grows (rooms of 16, 32, 64, ... bytes): of a bootstrap token the id and four letters of the
 * secret's sixteen, of a longer text half. */
int yaml_read(const char *text, size_t len, const char *what, struct yaml *ret, struct error *err);
/* A document that somebody else holds, too, is not overwritten. */
void yaml_forget(struct yaml *yaml);

/* Where the value at a path (as json_at(): "a.b[3].c") of a document stands, which may have been
 * changed since it was read. Where there is no such value, or null: the nearest mapping or list
 * around it. NULL: the text does not have the value, or yaml is NULL. Belongs to yaml. */
const struct yaml_place *yaml_place(const struct yaml *yaml, const json_t *document,
                                    const char *path);
/* The same for a member of an object, for item i of a list where `key` is NULL, and for the key
 * itself. Documents are items of yaml->documents. */
const struct yaml_place *yaml_place_in(const struct yaml *yaml, const json_t *in, const char *key,
                                       size_t i);
const struct yaml_place *yaml_key_place(const struct yaml *yaml, const json_t *in, const char *key);
/* A value that was made of another one has the place of that. */
void yaml_pass_on(struct yaml *yaml, const json_t *from, json_t *to);
/* "what: line L column C: ..." as the error; without the place where that is NULL. -1. */
__attribute__((format(gnu_printf, 5, 6))) int yaml_refuse(const struct yaml *yaml,
                                                          const struct yaml_place *at,
                                                          struct error *err, enum error_kind kind,
                                                          const char *format, ...);

/* What a plain scalar means, NULL when that is a string. New reference. */
json_t *yaml_plain_value(const char *text);
/* Block-style YAML with sorted keys, as sigs.k8s.io/yaml writes it; strings that would read back as
 * another type are quoted, numbers as Go writes them ("0.9", "1e+06"). Characters that
 * text_add_visible() replaces stand between double quotes as YAML's escapes: a reader gets the same
 * value. The caller frees. */
char *yaml_write(const json_t *json);

/* Documents that are written down as YAML (templates/), with places in them: the part at a path
 * ("": all) of such a text as JSON, a new reference. Each string in it that is
 * "@NAME@" becomes the member NAME of `values`, which is taken over and may be NULL; where there is
 * no such member, what would hold it goes, too. NULL where the text has no such part. */
json_t *yaml_template(const char *yaml, const char *path, json_t *values);

/* Strict reading: what a YAML document may hold is a table of fields, and all else is an error that
 * names line and column. */

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
