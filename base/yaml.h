/* Reads and writes YAML with the library libyaml. A text becomes JSON values, and a table records
 * the position of each value in the text. */
#pragma once

#include "base/json.h"

/* A position in a text. Lines and columns count from 1. */
struct yaml_place {
    size_t line, column;
};

/* A text that was read, with its documents and positions. Initialize it with zeros. */
struct yaml {
    char *what;        /* Name of the text in messages. */
    json_t *documents; /* Array of the documents; null for a document without content. */
    struct yaml_entry *entries;
    size_t count;
};

/* Reads a stream of documents ("---") by YAML 1.2's core schema as Kubernetes does
 * (sigs.k8s.io/yaml: plain true/false, null/~ and decimal numbers; all else are strings). JSON text
 * is YAML too. These fail with ERROR_MALFORMED and "what: line L column C: ...": aliases and
 * anchors, duplicate keys, tags other than !!str, !!map and !!seq, merge keys, keys that are not
 * scalars, more than 64 levels, more than 4 MiB, bytes that are not UTF-8. The content may be
 * secret, so each copy is overwritten before it is freed. Exception: libyaml leaves parts behind
 * when it moves a growing text (buffers of 16, 32, 64, ... bytes): the id and four of sixteen
 * secret letters of a bootstrap token, half of a longer text. */
int yaml_read(const char *text, size_t len, const char *what, struct yaml *ret, struct error *err);
/* Overwrites and frees all that yaml_read() returned. A document that has another reference is not
 * overwritten. */
void yaml_forget(struct yaml *yaml);

/* Returns the position of the value at a path (as in json_at(): "a.b[3].c") of a document, which
 * may have been changed since it was read. For an absent or null value, it is the position of the
 * nearest mapping or list around the value. NULL when the text does not contain the value, or when
 * yaml is NULL. The result belongs to yaml. */
const struct yaml_place *yaml_place(const struct yaml *yaml, const json_t *document,
                                    const char *path);
/* Return the position of a member's value, or of item `i` of a list when `key` is NULL;
 * yaml_key_place() returns the position of the key itself. A document is an item of
 * yaml->documents. */
const struct yaml_place *yaml_place_in(const struct yaml *yaml, const json_t *in, const char *key,
                                       size_t i);
const struct yaml_place *yaml_key_place(const struct yaml *yaml, const json_t *in, const char *key);
/* Gives the value `to`, which was made from the value `from`, the position of `from`. */
void yaml_pass_on(struct yaml *yaml, const json_t *from, json_t *to);
/* Fills the error with "what: line L column C: ..." and returns -1. `at` may be NULL; then the
 * message has no position. */
__attribute__((format(gnu_printf, 5, 6))) int yaml_refuse(const struct yaml *yaml,
                                                          const struct yaml_place *at,
                                                          struct error *err, enum error_kind kind,
                                                          const char *format, ...);

/* Returns the value that an unquoted scalar means (boolean, null or number) as a new reference;
 * NULL when it is a string. */
json_t *yaml_plain_value(const char *text);
/* Writes block-style YAML with sorted keys, as sigs.k8s.io/yaml does. Strings that would be read
 * back as another type are quoted; numbers look as Go writes them ("0.9", "1e+06"). Characters that
 * text_add_visible() replaces become YAML escapes in double quotes, so the value is preserved. The
 * caller frees the text. */
char *yaml_write(const json_t *json);

/* Reads the part at a path ("" for all) of a YAML template (templates/) as JSON, a new reference.
 * Each string "@NAME@" is replaced by the member NAME of `values`. When there is no such member,
 * the item or member that holds the string is dropped. Takes ownership of `values`, which may be
 * NULL. Returns NULL when the text has no such part. */
json_t *yaml_template(const char *yaml, const char *path, json_t *values);

/* Strict reading: a table of fields says what a YAML document may contain. Everything else is an
 * error that names line and column. */

enum yaml_field_type {
    YAML_FIELD_TEXT,
    YAML_FIELD_BOOL,
    YAML_FIELD_NUMBER,   /* An integer of 32 bits. */
    YAML_FIELD_DURATION, /* A Go duration such as "1m30s", not negative. */
    YAML_FIELD_TIME,     /* An RFC 3339 time. */
    YAML_FIELD_TEXTS,    /* A list of strings. */
    YAML_FIELD_TEXT_MAP, /* An object with any keys, each with a string. */
    YAML_FIELD_EMPTY,    /* An object without fields. */
};

/* One allowed field and its path: "network.mode", or "releases[].name" in each object of a list.
 * The parts before a dot are objects and need no rows of their own. Letter case matters. The last
 * row of a table has a NULL path. */
struct yaml_field {
    const char *path;
    enum yaml_field_type type;
    unsigned versions; /* Bit mask of the document versions that have the field; 0 means all. */
    const char *moved; /* Path of the field in the other versions, or NULL. */
};

/* Checks a document of `yaml` against its table of fields. `version` is the bit of the document's
 * version, or 0. null means "not given" everywhere, as in Go. The first field that is unknown or
 * has another type fails with ERROR_USAGE: "what: line L column C: unknown field "a.b"", with a
 * "did you mean" hint. yaml_read() has refused duplicate keys already. Messages never contain
 * values, because these may be secret. */
int yaml_schema_check(const struct yaml *yaml, const json_t *document,
                      const struct yaml_field *fields, unsigned version, struct error *err);
/* Checks a document that other programs read, too: fields that are not in the table are ignored. */
int yaml_schema_check_known(const struct yaml *yaml, const json_t *document,
                            const struct yaml_field *fields, struct error *err);
