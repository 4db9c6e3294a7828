/* Called as kubeadm or kubeadm.exe, a copy or link of itself, winjoin takes kubeadm's place on a
 * worker: kubeadm's commands and flags, what it prints, its exit codes. */
#pragma once

#include "join/configuration/join_options.h"
#include "join/phases/phases.h"

struct verb;

/* The row of one of kubeadm's commands, also of those that a worker has no use for: they say where
 * to run them. NULL: kubeadm has none of that name. */
const struct verb *kubeadm_verb(const char *name);
/* ERROR_USAGE in kubeadm's words. */
int kubeadm_unknown(const char *name, struct error *err);
/* What kubeadm --help prints. */
void kubeadm_overview(struct text *out);
/* As kubeadm 1.34 and newer: 1 whatever failed. An interruption keeps its own. */
int kubeadm_exit_code(enum error_kind kind);
/* What is not said in the call is done as kubeadm does it: pod network and kube-proxy are left to
 * DaemonSets, and nobody waits for them; services that the image brought are taken over. */
void kubeadm_settle(struct join_options *options);
/* In each such program, and in no kubeadm. */
extern const char kubeadm_mark[];

/* ---- A join called as kubeadm's prints what kubeadm does ---- */

/* kubeadm's phase in which it does what winjoin does in that phase. */
const char *kubeadm_phase(const struct join_phase *phase);
/* What kubeadm prints on standard output when that phase begins; "": nothing. */
const char *kubeadm_begin_text(const struct join_phase *phase);
/* What it prints there when a worker has joined. */
extern const char kubeadm_joined_text[];
