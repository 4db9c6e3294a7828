/* Runs the phases of a join in order. */
#pragma once

#include "join/join.h"
#include "kube/node.h"

/* Finds the host's facts, the node's name and the journal, and checks the options
 * (join_asked_check()). Fails with ERROR_USAGE for a name in --skip-phases that is no phase. The
 * caller keeps what it gave. */
int join_open(struct join *join, struct error *err);
void join_close(struct join *join);
/* Runs all phases except those of --skip-phases, for at most join_timeout. Stops at the first
 * failure and then follows --on-failure. A failed join on a prepared server returns to the prepared
 * state. */
int join_run(struct join *join, struct error *err);
/* Runs only the phases, except those of --skip-phases, without a time limit and without the work at
 * the end of a join. With `read_only`, it stops before the first phase that changes the host, as a
 * dry run must. */
int join_run_phases(struct join *join, bool read_only, struct error *err);
/* Runs one phase by its id, or the phases of a name from kubeadm (join/phases/phases.h). Fails with
 * ERROR_USAGE when there is no such name. */
int join_run_phase(struct join *join, const char *name, struct error *err);
/* Returns a JoinResult document. New reference. */
json_t *join_result_json(const struct join *join);

/* Checks the options before the first request: their values (join_options_check()), the form of
 * endpoint, token and pins, a local discovery file, the folder of patches, and the bundle of
 * found.options, which stays open. Sends nothing and changes nothing. Fails with ERROR_USAGE or
 * ERROR_UNSUPPORTED, or with ERROR_DENIED or ERROR_HOST for a file or folder that cannot be
 * read. */
int join_asked_check(struct join *join, struct error *err);

/* Writes an Event of the Node with one request, if it has an identity. A failure is only logged. */
void join_tell_event(struct join *join, enum node_event event, const char *message);
