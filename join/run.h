/* The runner: runs the phases of a join in order. */
#pragma once

#include "join/join.h"
#include "kube/node.h"

/* Fills the host's facts, the node name and the journal, and judges what was asked
 * (join_asked_check()); a name in --skip-phases that no phase has is ERROR_USAGE. Takes over
 * nothing. */
int join_open(struct join *join, struct error *err);
void join_close(struct join *join);
/* Runs all phases but those of --skip-phases, for at most join_timeout; stops at the first failure,
 * behind which on_failure holds. On a prepared server a failed join goes back to the preparation.
 */
int join_run(struct join *join, struct error *err);
/* Runs the phases, but those of --skip-phases, and no more: neither limit nor end of a join.
 * `looking`: up to the first that changes the host, which is what a dry run may do. */
int join_run_phases(struct join *join, bool looking, struct error *err);
/* Runs one phase by its id, or those that kubeadm's name for them means
 * (join/phases/phases.h); ERROR_USAGE when there is none of that name. */
int join_run_phase(struct join *join, const char *name, struct error *err);
/* JoinResult document. New reference. */
json_t *join_result_json(const struct join *join);

/* Judges what a call asks for, before the first packet: the values (join_options_check()), the form
 * of endpoint, token and pins, a local discovery file, the folder of patches and the bundle of
 * found.options, which is left open there. Sends nothing, changes nothing. ERROR_USAGE,
 * ERROR_UNSUPPORTED; for a folder or file that cannot be read also ERROR_DENIED, ERROR_HOST. */
int join_asked_check(struct join *join, struct error *err);

/* Writes such an Event on the Node. One request, where this node has its identity; that it fails is
 * a line of the log. */
void join_tell_event(struct join *join, enum node_event event, const char *message);
