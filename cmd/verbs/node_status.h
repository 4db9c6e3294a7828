/* What this node is, as one document: NodeStatus. */
#pragma once

#include "cmd/program.h"

/* Asks the machine, the API server (0.7 s at most) and the reports that runs have left;
 * docs/status.md has the fields. New reference; kinds of failure: host_facts(). */
int node_status_make(struct program *program, json_t **ret, struct error *err);
