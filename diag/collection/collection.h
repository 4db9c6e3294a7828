/* What a support engineer asks for, in one .zip: the report, what HNS, Windows and the node's files
 * say, logs and events, and an index.txt. */
#pragma once

#include <stdint.h>

#include "base/json.h"
#include "diag/reports/report.h"
#include "host/host.h"

enum {
    COLLECTION_FILE_MAX = 512 * 1024, /* of a longer file its end */
    COLLECTION_MS = 60000, /* what is not read by then is left out, and named in the index */
};

struct diag_collect_options {
    const char *failure;       /* why nothing was measured; or NULL */
    const char *const *places; /* files and folders beyond those that diag knows; NULL-ended */
};
/* Reads the node and packs it; changes nothing. What cannot be read is named in the index. `report`
 * gets the evidence of a node where everything works, too. Every text goes through
 * redact_secrets(); the same node gives the same bytes. Kinds of failure: ERROR_INTERRUPTED,
 * ERROR_HOST. The caller frees *ret. */
int diag_collect(struct host *host, struct diag_report *report,
                 const struct diag_collect_options *options, char **ret, size_t *ret_len,
                 struct error *err);
/* Is it a .zip? (Otherwise it may be a report.) */
bool diag_is_collection(const char *data, size_t len);
/* The text of the report in a collection, at most `max` bytes; the caller frees. ERROR_MALFORMED,
 * ERROR_UNTRUSTED, ERROR_ABSENT, as services/artifacts/bundle_archive.h has them. */
int diag_collection_report(const char *data, size_t len, size_t max, char **ret, size_t *ret_len,
                           struct error *err);

/* ---- texts and an index of them in one .zip, without secrets ---- */

#define COLLECTION_REPORT "report.json" /* what --replay reads */
enum {
    COLLECTION_TOTAL_MAX = 32 * 1024 * 1024, /* unpacked, but for the report */
    COLLECTION_FILES_MAX = 400,
};

struct collection;
struct collection *collection_new(void);
void collection_freep(struct collection **c);

/* Packs it with a line of the index: `what` it is. */
void collection_add_json(struct collection *c, const char *name, const char *what,
                         const json_t *json);
/* The report in its three forms, which have a place in any case; takes json. */
void collection_add_report(struct collection *c, const char *text, const char *html, json_t *json);
/* A line of the index: what could not be read, and why. */
void collection_miss(struct collection *c, const char *name, const char *why);
/* Adds index.txt and packs all; the same content gives the same bytes. `head`: its first line;
 * `failure`: why nothing was measured, or NULL. The caller frees *ret. Fails as
 * bundle_archive_make(). */
int collection_finish(struct collection *c, const char *head, const char *failure, char **ret,
                      size_t *ret_len, struct error *err);
