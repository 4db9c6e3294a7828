/* reset: plays the journal backwards until the host is as it was found. */
#pragma once

#include "host/host.h"
#include "host/http.h"
#include "join/undo/journal.h"

/* Told for each thing that was taken back ("service kubelet", "removed") or could not be. */
typedef void reset_progress(void *context, const char *what, const char *how,
                            const struct error *err);

struct reset_options {
    bool dry_run; /* only tells */
    /* also what bears winjoin's mark and is not in the journal (join/undo/journal.h); otherwise
     * it is named */
    bool force;
    bool joining; /* only what a join did on a prepared server (JOINING_FOLDER) */
    reset_progress *progress;
    void (*begins)(void *context, const char *what); /* or NULL: what may take a while */
    void *progress_context;
    struct http *http; /* or NULL: the Node is left as it is */
};
struct reset_result {
    size_t restored; /* put back to what stood before */
    size_t removed;  /* was not there before */
    size_t failed;
    size_t left; /* named, and not in the journal */
};
/* Undoes the newest entry first and takes it off the journal when it is undone; a thing that cannot
 * be undone is reported, kept in the journal, and the rest goes on. An empty journal is success
 * with nothing done. When all is undone winjoin's own folder goes too. Answers -1 with the first
 * failure. */
int reset_run(struct host *host, const struct reset_options *options, struct reset_result *ret,
              struct error *err);
/* The same for what an upgrade did since it began (UPGRADE_FOLDER): its services are stopped, files
 * put back, and those services that ran are started again. The join's journal stays as it is. */
int reset_upgrade(struct host *host, const struct reset_options *options, struct reset_result *ret,
                  struct error *err);
