/* One entry of the journal undone. */
#pragma once

#include "join/undo/journal.h"

enum { STOP_TIMEOUT_MS = 60000 }; /* of a service */

/* Makes what the entry names as it was before the join; what is gone already is undone. *ret_how
 * says in a word or two what was done: "removed"; borrowed. Fails as the host's calls do, and with
 * ERROR_MALFORMED where the entry is damaged. */
int undo_entry(struct host *host, const struct journal_entry *entry, const char **ret_how,
               struct error *err);
