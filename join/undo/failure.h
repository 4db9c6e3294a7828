/* What happens after a failed join: the changes stay, so that the same command continues, or they
 * are undone at once (--on-failure). */
#pragma once

#include "join/join.h"

/* Called before a join changes anything. On a prepared server, the join gets a journal of its own,
 * so that failure_end() can undo the join and keep the preparation. Error kinds: those of
 * journal_open_joining(). */
int failure_begin(struct join *join, struct error *err);
/* Called after a join that succeeded: removes that journal. */
void failure_not(struct join *join);
/* Called after a join that failed with *err. With --on-failure rollback the journal is undone
 * (join/undo/reset.h), unless the join was interrupted, waits for a restart of Windows, or the
 * machine was a node before. The kind of the error stays; a hint says what is left, how to continue
 * and how to undo it. */
void failure_end(struct join *join, struct error *err);
/* Returns the object for JoinResult: {"outcome": "kept", "done" or "failed", "changes", "restored",
 * "removed"}. New reference. */
json_t *failure_json(const struct join *join);
