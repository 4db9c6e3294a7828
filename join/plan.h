/* The JoinPlan of a dry run: every document and file that a join would make, nothing changed. */
#ifndef JOIN_PLAN_H
#define JOIN_PLAN_H

#include "base/error.h"
#include "base/json.h"
#include "join/join.h"

/* Computes the plan from what the cluster and the host say; *ret is a new reference. What depends
 * on a pod subnet that is not known yet holds "<podCIDR>" and is listed in `unknown`. Secrets are
 * "<redacted>". What only the other nodes tell later (network.json's "peers") is not in it. Kinds:
 * those of join_need_plan, bundle_open, service_make. */
int join_plan_make(struct join *join, json_t **ret, struct error *err);
/* The same for a person: what would be done, in order; pure, the caller frees. */
char *join_plan_text(const json_t *plan);

#endif
