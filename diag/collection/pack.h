/* Texts and an index of them in one .zip, without secrets. */
#pragma once

#include <stdint.h>

#include "base/json.h"

#define COLLECTION_REPORT "report.json" /* what --replay reads */
enum {
    COLLECTION_TOTAL_MAX = 32 * 1024 * 1024, /* unpacked, but for the report */
    COLLECTION_FILES_MAX = 400,
};

struct collection;
struct collection *collection_new(void);
void collection_free(struct collection *c);
void collection_freep(struct collection **c);

/* Packs a text, which it takes, with a line of the index: `what` it is, and how much of `whole`
 * bytes (0 = all). Every text goes through redact_secrets(). One that does not fit, or whose name
 * cannot be packed, is named in the index. */
void collection_add(struct collection *c, const char *name, const char *what, struct text *text,
                    uint64_t whole);
void collection_add_json(struct collection *c, const char *name, const char *what,
                         const json_t *json);
/* A copy of a document, each of whose strings went through redact_secrets(), or NULL of NULL. New
 * reference. */
json_t *collection_hidden(const json_t *json);
/* Bytes as they are; takes them. */
void collection_add_bytes(struct collection *c, const char *name, const char *what, char *data,
                          size_t len);
/* The report in its three forms, which have a place in any case; takes json. */
void collection_add_report(struct collection *c, const char *text, const char *html, json_t *json);
/* A line of the index: what could not be read, and why. */
void collection_miss(struct collection *c, const char *name, const char *why);
/* Adds index.txt and packs all; the same content gives the same bytes. `head`: its first line;
 * `failure`: why nothing was measured, or NULL. The caller frees *ret. Fails as
 * bundle_archive_make(). */
int collection_finish(struct collection *c, const char *head, const char *failure, char **ret,
                      size_t *ret_len, struct error *err);
