/* Runs, evaluates and reports the preflight checks. Their table is in
 * join/preflight/preflight_checks.c. */
#pragma once

#include "join/join.h"
#include "netsetup/limits.h"

/* Ids of checks that a join repeats later; they can be ignored there, too. */
#define NETWORK_AGENT_CHECK "NetworkAgent"
#define HNS_CLASH_CHECK "HNSClash"

enum preflight_outcome {
    PREFLIGHT_PASS,
    PREFLIGHT_WARNING, /* The check found a problem or could not be made */
    PREFLIGHT_ERROR,
    PREFLIGHT_IGNORED, /* An error that --ignore-preflight-errors names */
    PREFLIGHT_NOT_RUN, /* Not applicable here; the message says why */
    PREFLIGHT_OUTCOME_COUNT
};
/* Names of the outcomes: "pass", ... */
extern const char *const preflight_outcome_names[PREFLIGHT_OUTCOME_COUNT];

struct preflight_result {
    const char *id;
    const char *help;             /* What is true when the check passes */
    enum preflight_outcome level; /* Level of a failure: PREFLIGHT_WARNING or PREFLIGHT_ERROR */
    enum preflight_outcome outcome;
    /* Kind of a failure that is not caused by this machine; else ERROR_NONE. */
    enum error_kind cause;
    char message[300]; /* "" when the check passed */
    char hint[240];    /* A command or an advice; or "" */
};
/* Runs the checks in order and returns *ret_count results, which the caller frees. Nothing is
 * changed. Without administrator rights, only the first check runs and fails (kubeadm:
 * RunRootCheckOnly). With `whole`, it also checks what later phases of a join find out: the bundle
 * and, when a cluster is given, the cluster, the node's name there and the network's plan. */
struct preflight_result *preflight_run(struct join *join, bool whole, size_t *ret_count);
/* Returns a PreflightReport document. New reference. */
json_t *preflight_report_json(const struct preflight_result *results, size_t count);
/* Fills the facts that decide which limits of Windows apply, as far as they are known; borrowed. */
void preflight_limit_facts(const struct join *join, struct limit_facts *ret);
/* Fails when a result is an error. The kind is ERROR_UNTRUSTED when that caused one of them; else
 * ERROR_PREFLIGHT for a fault of this machine (ERROR_RESTART when only a restart is missing); else
 * the kind of the cause. */
int preflight_judge(const struct preflight_result *results, size_t count, struct error *err);

/* Adds the ids of all checks. */
void preflight_names(struct text_list *ret);
/* Adds a warning for each name that is no check of winjoin or kubeadm; kubeadm ignores them. */
void preflight_unknown_names(const struct text_list *ignored, struct text_list *ret_warnings);

/* Installs the feature Containers with dism.exe, when --install-features is given and Windows says
 * that it is not installed (Microsoft: DISM Operating System Package Servicing Command-Line
 * Options; exit code 3010: a restart is needed). Does nothing in a dry run. Fails as host_run(), or
 * with ERROR_RESTART (installed, restart first) or ERROR_HOST. */
int features_install(struct join *join, struct error *err);
/* Installs Hyper-V in the same way, when a RuntimeClass of the cluster has containerd's handler
 * runhcs-wcow-hypervisor and is not for another Windows build. Only nodes may read RuntimeClasses
 * (kubernetes, plugin/pkg/auth/authorizer/rbac/bootstrappolicy, NodeRules), so this runs after the
 * node has its certificate. When they cannot be read, it warns. Fails as features_install(). */
int features_install_hyper_v(struct join *join, struct error *err);
