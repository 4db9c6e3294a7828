/* What a support engineer asks for, in one .zip: the report, what HNS, Windows and the node's files
 * say, logs and events, and an index.txt. */
#pragma once

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
