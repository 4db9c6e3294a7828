/* winjoin prepare: does the parts of a join that need no cluster, once, on a server that becomes a
 * machine image. It writes nothing about this machine: no key, token, node name or address. The
 * changes are in the journal, so a join continues from them and a reset undoes them. */
#pragma once

#include "join/join.h"

/* Opens a join with the phases of a preparation, for join_run(). The version is that of
 * --kubernetes-version or of the bundle; mode and plugin are from the options, or a join's
 * defaults. join_close() ends it. Fails as join_open() and network_plan_choose(), or with
 * ERROR_USAGE when there is no version or on a machine that has joined. */
int prepare_open(struct join *join, struct error *err);
/* Returns a PrepareResult document. New reference. */
json_t *prepare_result_json(const struct join *join);
/* Reads PREPARED_FILE: {kubernetesVersion, mode, plugin, images[]}. Returns NULL when nothing was
 * prepared. New reference. */
json_t *prepared_read(struct host *host);
