/* YAML: libyaml, its one home, behind a small tree that knows lines and columns. */
#ifndef BASE_YAML_H
#define BASE_YAML_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/json.h"

enum yaml_type { YAML_NULL, YAML_SCALAR, YAML_LIST, YAML_MAP };

/* A node of the tree. Read with the getters; all memory belongs to the document. */
struct yaml_node;
struct yaml_documents; /* the documents of one stream */

/* Parses a stream of documents ("---"). Refused with ERROR_MALFORMED and "what: line L column C:
 * ...": aliases and anchors, duplicate keys, tags other than !!str, !!map and !!seq, .inf and .nan,
 * keys that are no scalars or would have to be quoted, more than 64 levels, more than 4 MiB, bytes
 * that are no UTF-8. JSON texts are YAML too.
 */
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
size_t yaml_count(const struct yaml_node *node); /* items of a list, pairs of a map */
const struct yaml_node *yaml_item(const struct yaml_node *list, size_t i);
const char *yaml_key(const struct yaml_node *map, size_t i);
size_t yaml_key_line(const struct yaml_node *map, size_t i);
size_t yaml_key_column(const struct yaml_node *map, size_t i);
const struct yaml_node *yaml_value(const struct yaml_node *map, size_t i);
/* Dotted path like json_at(); NULL when absent. */
const struct yaml_node *yaml_at(const struct yaml_node *node, const char *path);
const char *yaml_text_at(const struct yaml_node *node, const char *path);

/* One document of a text, as bytes of it; `line` counts from 1. */
struct yaml_part {
    const char *text;
    size_t len, line;
};
/* What is left of a text that is being parted; begin with its bytes and line 1. */
struct yaml_parts {
    const char *at, *end;
    size_t line;
};
/* Parts a text into documents as Kubernetes does (apimachinery util/yaml YAMLReader): a line that
 * begins with "---" ends one, and only blanks or a comment may follow it, else ERROR_MALFORMED with
 * line and column. One with nothing before it belongs to the part behind it. 1 = *ret, 0 = no more.
 */
int yaml_parts_next(struct yaml_parts *parts, const char *what, struct yaml_part *ret,
                    struct error *err);
/* A part with empty lines for all that is before it, so that messages about it have the lines of
 * the whole text; *ret_len bytes and a NUL. The caller frees. */
char *yaml_part_text(const struct yaml_part *part, size_t *ret_len);

/* The node as JSON by YAML 1.2's core schema as Kubernetes reads it (sigs.k8s.io/yaml: plain
 * true/false, null/~, decimal numbers; all else strings). New reference. */
json_t *yaml_to_json(const struct yaml_node *node);
/* Kubernetes reads as JSON, not as YAML, what begins with a brace (utilyaml.GuessJSONStream): such
 * a text, up to its first separator, must be JSON. `text` ends with NUL. ERROR_MALFORMED, without
 * anything of the text in the message. */
int yaml_check_json(const char *text, size_t len, const char *what, struct error *err);
/* Whether a plain key is the text that stands there for Kubernetes, too: not null, no merge, and no
 * number or boolean that Go writes otherwise ("0x10", "1.0", "yes"). */
bool yaml_key_stands(const char *key);

/* Block-style YAML with sorted keys, as sigs.k8s.io/yaml writes it; strings that would read back as
 * another type are quoted, numbers as Go writes them ("0.9", "1e+06"). The caller frees. */
char *yaml_write(const json_t *json);

#endif
