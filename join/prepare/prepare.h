/* winjoin prepare: what of a join needs no cluster, done once on a server that becomes an image.
 * Nothing of it names this machine: no key, token, node name or address. The journal notes it, so a
 * join goes on from it and a reset undoes it. */
#pragma once

#include "join/join.h"

/* join_open() with the phases of a preparation, for join_run(). The version is
 * --kubernetes-version's or the bundle's; mode and plugin are those that were asked for, or a
 * join's own. Kinds: those of join_open() and network_plan_choose(), ERROR_USAGE without a version,
 * or on a machine that has joined. join_close() ends it. */
int prepare_open(struct join *join, struct error *err);
/* A PrepareResult document. New reference. */
json_t *prepare_result_json(const struct join *join);
/* What PREPARED_FILE says: {kubernetesVersion, mode, plugin, images[]}; NULL: nothing was prepared.
 * New reference. */
json_t *prepared_read(struct host *host);
