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
