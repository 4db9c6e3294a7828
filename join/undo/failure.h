/* What becomes of the machine when a join fails: kept, so that the same command continues, or taken
 * back at once (--on-failure). */
#pragma once

#include "join/join.h"

/* Before a join changes anything: on a prepared server what it does is journalled by itself, so
 * that failure_end() goes back to the preparation. Kinds: those of journal_open_joining(). */
int failure_begin(struct join *join, struct error *err);
/* The join ended well: there is nothing to go back to. */
void failure_not(struct join *join);
/* Behind a join that failed with *err: with --on-failure rollback the journal is played backwards
 * (join/undo/reset.h), unless the join was interrupted, waits for a restart of Windows, or the
 * machine was a node before it. The kind of the error stays; a hint says what is left, how to
 * continue and how to undo it. */
void failure_end(struct join *join, struct error *err);
/* For JoinResult: {"outcome": "kept", "done" or "failed", "changes", "restored", "removed"}. New
 * reference. */
json_t *failure_json(const struct join *join);
