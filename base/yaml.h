/* YAML: libyaml, its one home, behind a small tree that knows lines and columns. */
#pragma once

#include "base/json.h"

enum yaml_type { YAML_NULL, YAML_SCALAR, YAML_LIST, YAML_MAP };

/* A node of the tree. Read with the getters; all memory belongs to the document. */
struct yaml_node;
struct yaml_documents; /* the documents of one stream */

/* Parses a stream of documents ("---"). Refused with ERROR_MALFORMED and "what: line L column C:
 * ...": aliases and anchors, duplicate keys, tags other than !!str, !!map and !!seq, merge keys,
 * keys that are no scalars, more than 64 levels, more than 4 MiB, bytes that are no UTF-8. JSON
 * texts are YAML too. What is read may be secret: each copy is overwritten before it is freed, but
 * for what libyaml leaves behind when it moves a text that grows (rooms of 16, 32, 64, ... bytes):
 * of a bootstrap token the id and four letters of the secret's sixteen, of a longer text half. */
int yaml_parse(const char *text, size_t len, const char *what, struct yaml_documents **ret,
               struct error *err);
void yaml_documents_free(struct yaml_documents *documents);
void yaml_documents_freep(struct yaml_documents **documents);
size_t yaml_documents_count(const struct yaml_documents *documents);
/* The root of document i (a YAML_NULL node for an empty document). */
const struct yaml_node *yaml_document(const struct yaml_documents *documents, size_t i);

enum yaml_type yaml_type(const struct yaml_node *node);
/* Lines and columns count from 1. */
size_t yaml_line(const struct yaml_node *node);
size_t yaml_column(const struct yaml_node *node);
/* Scalar text ("" for null); NULL for lists and maps. */
const char *yaml_text(const struct yaml_node *node);
/* true when the scalar was quoted (so "true" is a string). */
bool yaml_is_quoted(const struct yaml_node *node);
/* true for a scalar that yaml_to_json() makes a string of. */
bool yaml_is_text(const struct yaml_node *node);
size_t yaml_count(const struct yaml_node *node); /* items of a list, pairs of a map */
const struct yaml_node *yaml_item(const struct yaml_node *list, size_t i);
const char *yaml_key(const struct yaml_node *map, size_t i);
size_t yaml_key_line(const struct yaml_node *map, size_t i);
size_t yaml_key_column(const struct yaml_node *map, size_t i);
const struct yaml_node *yaml_value(const struct yaml_node *map, size_t i);
/* Dotted path like json_at(); NULL when absent. */
const struct yaml_node *yaml_at(const struct yaml_node *node, const char *path);
const char *yaml_text_at(const struct yaml_node *node, const char *path);

/* The node as JSON by YAML 1.2's core schema as Kubernetes reads it (sigs.k8s.io/yaml: plain
 * true/false, null/~, decimal numbers; all else strings). New reference. */
json_t *yaml_to_json(const struct yaml_node *node);
/* Block-style YAML with sorted keys, as sigs.k8s.io/yaml writes it; strings that would read back as
 * another type are quoted, numbers as Go writes them ("0.9", "1e+06"). Characters that
 * text_add_visible() replaces stand between double quotes as YAML's escapes: a reader gets the same
 * value. The caller frees. */
char *yaml_write(const json_t *json);

/* Where the values of a JSON document stand in the YAML text that they were read from, so that
 * whoever judges them later can say so. */
struct yaml_mark {
    json_t *value; /* a reference, so that no other value gets its address */
    size_t line, column;
};
struct yaml_marks {
    char *what; /* the text's name */
    struct yaml_mark *items;
    size_t count, capacity;
};

/* yaml_to_json(), with a mark for each of its values but null, true and false, which jansson has
 * but once. *ret is freed by yaml_marks_free(); the document must not be older than it. */
json_t *yaml_to_json_marked(const struct yaml_node *node, const char *what, struct yaml_marks *ret);
void yaml_marks_free(struct yaml_marks *marks);
/* A value that was made of another has the place of that one. */
void yaml_marks_pass_on(struct yaml_marks *marks, const json_t *from, json_t *to);
/* The mark of the value at a path ("a.b[3].c") of the document as it is now. Where there is no such
 * value: the mark of the nearest mapping or list around it. NULL: the text does not have the value,
 * or marks is NULL. */
const struct yaml_mark *yaml_marks_find(const struct yaml_marks *marks, const json_t *document,
                                        const char *path);

/* Documents that are written down as YAML (templates/), with places in them: the part at a path
 * ("": all) of such a text as JSON, a new reference. Each string in it that is
 * "@NAME@" becomes the member NAME of `values`, which is taken over and may be NULL; where there is
 * no such member, what would hold it goes, too. NULL where the text has no such part. */
json_t *yaml_template(const char *yaml, const char *path, json_t *values);
