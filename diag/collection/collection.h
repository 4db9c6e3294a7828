/* Collects what a support engineer needs in one .zip: the report, what HNS, Windows and the node's
 * files say, logs and events, and an index.txt. */
#pragma once

#include <stdint.h>

#include "base/json.h"
#include "diag/reports/report.h"
#include "host/host.h"

enum {
    /* The most bytes of a file; of a longer one only the end is packed. */
    COLLECTION_FILE_MAX = 512 * 1024,
    /* The time limit: what is not read by then is left out, and named in the index. */
    COLLECTION_MS = 60000,
};

struct diag_collect_options {
    const char *failure; /* Why nothing was measured; NULL when something was. */
    /* Further files and folders besides those that diag knows, ended by NULL; may be NULL. */
    const char *const *places;
};
/* Reads the node and packs what it found; changes nothing on the node. What cannot be read is named
 * in the index. `report` gets evidence in any case, even when everything works. Every text goes
 * through redact_secrets(). The same node gives the same bytes. Fails with ERROR_INTERRUPTED or
 * ERROR_HOST. The caller frees *ret. */
int diag_collect(struct host *host, struct diag_report *report,
                 const struct diag_collect_options *options, char **ret, size_t *ret_len,
                 struct error *err);
/* Says whether the data is a .zip; otherwise it may be a report. */
bool diag_is_collection(const char *data, size_t len);
/* Takes the report's text out of a collection, at most `max` bytes. The caller frees *ret. Fails
 * with ERROR_MALFORMED, ERROR_UNTRUSTED or ERROR_ABSENT, as in
 * services/artifacts/bundle_archive.h. */
int diag_collection_report(const char *data, size_t len, size_t max, char **ret, size_t *ret_len,
                           struct error *err);

/* ---- a .zip of texts without secrets, and an index of them ---- */

#define COLLECTION_REPORT "report.json" /* The file that --replay reads. */
enum {
    /* The limit of all files together, unpacked and without the report. */
    COLLECTION_TOTAL_MAX = 32 * 1024 * 1024,
    COLLECTION_FILES_MAX = 400,
};

struct collection;
struct collection *collection_new(void);
void collection_freep(struct collection **c);

/* Adds a JSON document, with a line of the index that says what it is (`what`). */
void collection_add_json(struct collection *c, const char *name, const char *what,
                         const json_t *json);
/* Adds the report in its three forms, for which there is always room. Takes over `json`. */
void collection_add_report(struct collection *c, const char *text, const char *html, json_t *json);
/* Adds a line to the index about something that could not be read (`name`), and why. */
void collection_miss(struct collection *c, const char *name, const char *why);
/* Adds index.txt and packs everything; the same content gives the same bytes. `head` is the first
 * line of the index; `failure` says why nothing was measured, or is NULL. The caller frees *ret.
 * Fails as bundle_archive_make() does. */
int collection_finish(struct collection *c, const char *head, const char *failure, char **ret,
                      size_t *ret_len, struct error *err);
