/* Undoes the journal from the last entry to the first, until the host is in its original state. */
#pragma once

#include "host/host.h"
#include "host/http.h"
#include "join/undo/journal.h"

/* Called for each thing that was undone ("service kubelet", "removed"), or with the error of one
 * that was not. */
typedef void reset_progress(void *context, const char *what, const char *how,
                            const struct error *err);

struct reset_options {
    bool dry_run; /* Reports what would be done */
    /* Also removes things with winjoin's mark that are not in the journal (join/undo/journal.h);
     * otherwise they are only reported. */
    bool force;
    /* Undoes only a join on a prepared server (JOINING_FOLDER). */
    bool joining;
    reset_progress *progress;
    /* Called before a thing that may need some time; or NULL. */
    void (*begins)(void *context, const char *what);
    void *progress_context;
    struct http *http; /* For requests to the Node; NULL means that the Node is not changed */
};
struct reset_result {
    size_t restored; /* Things that got back their earlier state */
    size_t removed;  /* Things that did not exist before and were removed */
    size_t failed;
    size_t left; /* Things that were reported and are not in the journal */
};
/* Undoes the newest entry first and removes each entry from the journal when it is undone. A thing
 * that cannot be undone is reported and stays in the journal, and the others are still undone. An
 * empty journal is a success. When everything is undone, winjoin's own folder is removed, too.
 * Returns -1 with the first failure. */
int reset_run(struct host *host, const struct reset_options *options, struct reset_result *ret,
              struct error *err);
/* Undoes an upgrade with the journal in UPGRADE_FOLDER: its services are stopped, files are
 * restored, and the services that ran are started again. The join's journal does not change. */
int reset_upgrade(struct host *host, const struct reset_options *options, struct reset_result *ret,
                  struct error *err);
