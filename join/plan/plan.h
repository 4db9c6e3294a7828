/* The JoinPlan of a dry run: each document and file that a join would write. Changes nothing. */
#pragma once

#include "join/join.h"

#define JOIN_PLAN_REDACTED "<redacted>" /* Content of a secret in the plan */

/* Makes the plan from the cluster and the host; *ret is a new reference. Values that depend on a
 * Pod subnet that is not known yet are "<podCIDR>" and are listed in `unknown`. Secrets are
 * JOIN_PLAN_REDACTED. When all phases are skipped, the cluster is not asked and the plan is empty.
 * The routes to other nodes (network.json's "peers") are not in the plan. Fails as join_need(),
 * programs_bundle() and service_want(). */
int join_plan_make(struct join *join, json_t **ret, struct error *err);
/* Returns the plan as a text for a person, in the order of the steps. The caller frees it. */
char *join_plan_text(const json_t *plan);

/* Name of the variable with the folder for the plan's files, as for kubeadm join. Without the
 * variable, no file is written. */
#define JOIN_PLAN_FOLDER_VARIABLE "KUBEADM_JOIN_DRYRUN_DIR"
/* Writes each text file of the plan into the folder (made when absent), under the last part of its
 * name, as kubeadm does. Secrets and programs are not written. *ret_count is the number of files.
 * Fails as host_write(). */
int join_plan_write(struct host *host, const json_t *plan, const char *folder, size_t *ret_count,
                    struct error *err);
