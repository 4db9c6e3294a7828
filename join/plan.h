/* The JoinPlan of a dry run: every document and file that a join would make, nothing changed. */
#ifndef JOIN_PLAN_H
#define JOIN_PLAN_H

#include "base/error.h"
#include "base/json.h"
#include "join/join.h"

/* Discovers, reads the cluster and computes; *ret is a new reference. What depends on a pod subnet
 * that is not known yet holds "<podCIDR>" and is listed in `unknown`. Secrets are "<redacted>". */
int join_plan_make(struct join *join, json_t **ret, struct error *err);
/* The same for a person; the caller frees. */
char *join_plan_text(const json_t *plan);

#endif
