/* The JoinPlan of a dry run: every document and file that a join would make, nothing changed. */
#pragma once

#include "join/join.h"

#define JOIN_PLAN_REDACTED "<redacted>" /* the content of a secret */

/* Computes the plan from what the cluster and the host say; *ret is a new reference. What depends
 * on a pod subnet that is not known yet holds "<podCIDR>" and is listed in `unknown`. Secrets are
 * JOIN_PLAN_REDACTED. When all phases are skipped, no cluster is asked and the plan is empty. What
 * only the other nodes tell later (network.json's "peers") is not in it. Kinds: those of
 * join_need_plan, programs_bundle, service_make. */
int join_plan_make(struct join *join, json_t **ret, struct error *err);
/* The same for a person: what would be done, in order; pure, the caller frees. */
char *join_plan_text(const json_t *plan);

/* Names the folder that a dry run writes to, as for kubeadm join; without it nothing is written. */
#define JOIN_PLAN_FOLDER_VARIABLE "KUBEADM_JOIN_DRYRUN_DIR"
/* Writes each text file of the plan into the folder (made when it is absent), by its last name
 * alone, as kubeadm does; secrets and programs stay out. *ret_count files; of the kinds of
 * host_write. */
int join_plan_write(struct host *host, const json_t *plan, const char *folder, size_t *ret_count,
                    struct error *err);
