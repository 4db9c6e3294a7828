/* The phases: their table, and their functions, for the table alone. */
#pragma once

#include "base/error.h"
#include "base/text.h"
#include "join/join.h"
#include "services/service_host.h"

/* One row of the table: `join phase list`, progress, help and order all come from it. */
struct join_phase {
    const char *id;    /* "pod-network" */
    const char *title; /* "pod network": what the progress shows */
    const char *help;  /* one line */
    /* Does it; adds the fact that matters to the progress' detail. Safe to run again. */
    int (*run)(struct join *join, struct error *err);
    unsigned needs; /* NEED_* (join/found/need.h): what the runner has found before it runs */
    bool read_only; /* changes nothing on the host */
};
/* The phases in order; the last row has no id. */
extern const struct join_phase join_phases[];

/* phase_NAME() is in join/phases/NAME.c, phase_configuration() in discovery.c, phase_ready() in
 * node.c, those of a service in services.c. */
int phase_preflight(struct join *join, struct error *err);
int phase_discovery(struct join *join, struct error *err);
int phase_configuration(struct join *join, struct error *err);
int phase_certificate(struct join *join, struct error *err);
int phase_artifacts(struct join *join, struct error *err);
/* This program in the place where the services start it. */
int artifacts_own_winjoin(struct join *join, struct error *err);
int phase_files(struct join *join, struct error *err);
/* The folders that they, the kubelet and its pods need. */
int files_own_folders(struct join *join, struct error *err);
int phase_containerd(struct join *join, struct error *err);
int phase_kubelet(struct join *join, struct error *err);
int phase_vswitch(struct join *join, struct error *err);
int phase_pod_network(struct join *join, struct error *err);
int phase_kube_proxy(struct join *join, struct error *err);
int phase_flanneld(struct join *join, struct error *err);
int phase_node(struct join *join, struct error *err);
int phase_ready(struct join *join, struct error *err);
int phase_verify(struct join *join, struct error *err);

/* A name of kubeadm's `join phase`. */
struct phase_group {
    const char *name;      /* "kubelet-start" */
    const char *phases[4]; /* winjoin's ids, in order, NULL-terminated; none: a control plane's */
    const char *help;
};
extern const struct phase_group phase_groups[]; /* the last one has no name */

/* Adds the ids of the phases that a name means, in order. A control plane's phase is ERROR_USAGE,
 * and so is an unknown name, with the nearest one as a hint. */
int phase_names_resolve(const char *name, struct text_list *ret_ids, struct error *err);
/* The same for a list of names to skip: a control plane's phases mean nothing here and are skipped
 * anyway (also by their sub-phase, "control-plane-prepare/certs"). */
int phase_names_skipped(const struct text_list *names, struct text_list *ret_ids,
                        struct error *err);

/* A join that goes on by itself after a restart of Windows (--restart).
 *
 * A service that starts with Windows needs nobody who logs on; the service host starts the same
 * join with its settings (services/service_host.h), in a file that only SYSTEM and Administrators
 * read: there the token is, and nowhere else. */

#define RESTART_SERVICE "winjoin-join"

/* Copies winjoin.exe to its place, registers the service and restarts Windows, all recorded in the
 * journal first. What continues is `arguments`, the words behind the program, with `environment`,
 * secrets as NAME=value. Kinds: those of the host. */
int restart_begin(struct join *join, const struct text_list *arguments,
                  const struct text_list *environment, struct error *err);
/* It is done: removes the settings, with them the secrets, and the service. Absent is success. */
int restart_end(struct host *host, struct error *err);
/* Is the service registered, by winjoin, and in this state? While it runs, whoever asks is the join
 * that it started; where it is stopped, whoever asks is another one, and it is left over. */
bool restart_service_is(struct host *host, enum host_service_state state);
/* The join that it started with these settings has had them written again, for another restart. */
bool restart_is_next(struct host *host, const struct service_host_settings *started);
