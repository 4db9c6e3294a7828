/* The preflight checks: run, judged, reported. The table is join/preflight/preflight_checks.c. */
#pragma once

#include "join/join.h"
#include "netsetup/limits.h"

/* A join asks these again, and may ignore them. */
#define NETWORK_AGENT_CHECK "NetworkAgent"
#define HNS_CLASH_CHECK "HNSClash"

enum preflight_outcome {
    PREFLIGHT_PASS,
    PREFLIGHT_WARNING, /* bad, or could not be told */
    PREFLIGHT_ERROR,
    PREFLIGHT_IGNORED, /* an error that --ignore-preflight-errors names */
    PREFLIGHT_NOT_RUN, /* does not apply here; the message says why */
    PREFLIGHT_OUTCOME_COUNT
};
extern const char *const preflight_outcome_names[PREFLIGHT_OUTCOME_COUNT]; /* "pass", ... */

struct preflight_result {
    const char *id;
    const char *help;             /* what is so when it passes */
    enum preflight_outcome level; /* of a failure: PREFLIGHT_WARNING or PREFLIGHT_ERROR */
    enum preflight_outcome outcome;
    enum error_kind cause; /* of a failure that is no fault of this machine; else ERROR_NONE */
    char message[300];     /* "" when it passed */
    char hint[240];        /* a command to paste, or what to do; or "" */
};
/* Runs the checks in order; *ret_count results, which the caller frees. Nothing is changed. A
 * process without rights is refused at once, and nothing else is looked at (kubeadm:
 * RunRootCheckOnly). `whole`: also what later phases of a join find out by themselves: the bundle,
 * and with something to discover by the cluster, its name for this node and the network's plan. */
struct preflight_result *preflight_run(struct join *join, bool whole, size_t *ret_count);
/* PreflightReport document. New reference. */
json_t *preflight_report_json(const struct preflight_result *results, size_t count);
/* What Windows' limits are judged by, as far as it was asked for or found; borrowed. */
void preflight_limit_scene(const struct join *join, struct limit_scene *ret);
/* Fails when a result is an error: ERROR_UNTRUSTED when one of them was caused by that, else
 * ERROR_PREFLIGHT for a fault of this machine (ERROR_RESTART when a restart is all that it lacks),
 * else the cause. */
int preflight_judge(const struct preflight_result *results, size_t count, struct error *err);

/* The ids of all checks. */
void preflight_names(struct text_list *ret);
/* Names that no check of winjoin or kubeadm has, each as a warning to show (kubeadm passes over
 * them in silence). */
void preflight_unknown_names(const struct text_list *ignored, struct text_list *ret_warnings);

/* With --install-features, and where Windows says that Containers is not installed: installs it by
 * dism.exe (Microsoft: DISM Operating System Package Servicing Command-Line Options; exit code 3010
 * is "a restart is needed"). Nothing in a dry run. Kinds: ERROR_RESTART (done, restart first),
 * ERROR_HOST, those of host_run(). */
int features_install(struct join *join, struct error *err);
/* The same for Hyper-V, where a RuntimeClass of the cluster has containerd's handler
 * runhcs-wcow-hypervisor and is not for another Windows build. Only a node may read RuntimeClasses
 * (kubernetes, plugin/pkg/auth/authorizer/rbac/bootstrappolicy, NodeRules), so that this comes
 * behind its certificate; a cluster that does not answer is warned of. Kinds: those above. */
int features_install_hyper_v(struct join *join, struct error *err);
