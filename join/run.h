/* The runner: runs the phases of a join in order. */
#pragma once

#include "join/join.h"

/* Fills the host's facts, the node name and the journal, and judges what was asked
 * (join/asked.h); a name in --skip-phases that no phase has is ERROR_USAGE. Takes over nothing. */
int join_open(struct join *join, struct error *err);
void join_close(struct join *join);
/* Runs all phases but those of --skip-phases, for at most join_timeout; stops at the first failure,
 * behind which on_failure holds (join/undo/failure.h). */
int join_run(struct join *join, struct error *err);
/* Runs the phases before the first that changes the host: what a dry run may do. */
int join_run_looking(struct join *join, struct error *err);
/* Runs one phase by its id, or those that kubeadm's name for them means
 * (join/phases/phase_names.h); ERROR_USAGE when there is none of that name. */
int join_run_phase(struct join *join, const char *name, struct error *err);
/* JoinResult document. New reference. */
json_t *join_result_json(const struct join *join);
