/* Whether the cluster grants what a join and the node's services will need. */
#pragma once

#include "join/join.h"

#define RIGHTS_CHECK "ClusterRights" /* the check that may be ignored */

/* Needs cluster and plan. A bootstrap token is asked about itself; what the node's identity will
 * need is asked with that identity where the node has it, else judged by the ConfigMap `winjoin`:
 * the manifest of `winjoin config cluster` lets tokens read it and gives nodes their rights.
 * ERROR_PREFLIGHT with the command that grants them. A server that does not answer such questions
 * is passed over. */
int rights_check(struct join *join, struct error *err);
/* The same for a join: a warning where the check is ignored. A token is not asked about itself
 * where this run sends its certificate request before the network is interrupted. */
int rights_need(struct join *join, struct error *err);
