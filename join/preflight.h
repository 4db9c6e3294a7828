/* The preflight checks: one row each, and the report that they make. */
#ifndef JOIN_PREFLIGHT_H
#define JOIN_PREFLIGHT_H

#include "base/error.h"
#include "base/json.h"
#include "join/join.h"

enum preflight_outcome { PREFLIGHT_PASS, PREFLIGHT_WARNING, PREFLIGHT_ERROR, PREFLIGHT_IGNORED };
const char *preflight_outcome_name(enum preflight_outcome outcome); /* "pass", "warning", ... */

struct preflight_result {
    const char *id;
    const char *help;
    enum preflight_outcome outcome;
    char message[300];
    const char *hint; /* or "" */
};
/* Runs every check; *ret_count results, which the caller frees. Nothing is changed. Ids as
 * kubeadm's where it has the check; ignored ones (--ignore-preflight-errors, "all") become
 * warnings. */
struct preflight_result *preflight_run(struct join *join, size_t *ret_count);
/* PreflightReport document. New reference. */
json_t *preflight_report_json(const struct preflight_result *results, size_t count);
/* Fails with ERROR_PREFLIGHT when a result is an error (ERROR_RESTART when that is all that lacks).
 */
int preflight_judge(const struct preflight_result *results, size_t count, struct error *err);

#endif
