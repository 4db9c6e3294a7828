/* Checks whether the cluster grants what a join and the node's services need. */
#pragma once

#include "join/join.h"

#define RIGHTS_CHECK "ClusterRights" /* Id of the check; it can be ignored */

/* Checks the rights. Needs cluster and plan. A bootstrap token is asked about its own rights. The
 * rights of the node's identity are asked with that identity if the node has it; otherwise they are
 * derived from ConfigMap `winjoin`, because the manifest of `winjoin config cluster` lets tokens
 * read it and grants nodes their rights. Fails with ERROR_PREFLIGHT and the command that grants
 * them. A server that does not answer such questions is accepted. */
int node_rights_check(struct join *join, struct error *err);
/* Checks the rights during a join: only a warning when the check is ignored. A token's right to
 * send a certificate request is not asked when this run sends one before the network is
 * interrupted. */
int node_rights_need(struct join *join, struct error *err);
