/* Declares the table of phases, and the functions that only the table calls. */
#pragma once

#include "base/error.h"
#include "base/text.h"
#include "join/join.h"
#include "services/hosted_service.h"

/* A row of the table; `join phase list`, progress, help and order use it. */
struct join_phase {
    const char *id;    /* Id: "pod-network" */
    const char *title; /* Title in the progress: "pod network" */
    const char *help;  /* Help in one line */
    /* Runs the phase and adds the most important fact to the progress' detail. Safe to repeat. */
    int (*run)(struct join *join, struct error *err);
    /* NEED_* (join/found/need.h): what the runner finds before it runs the phase. */
    unsigned needs;
    bool read_only; /* The phase changes nothing on the host */
};
/* The phases in order; the last row has no id. */
extern const struct join_phase join_phases[];

/* phase_NAME() is in join/phases/NAME.c, except that phase_configuration() is in discovery.c,
 * phase_ready() in node.c, and the phases of services are in services.c. */
int phase_preflight(struct join *join, struct error *err);
int phase_discovery(struct join *join, struct error *err);
int phase_configuration(struct join *join, struct error *err);
int phase_certificate(struct join *join, struct error *err);
int phase_artifacts(struct join *join, struct error *err);
/* Copies winjoin.exe to the path at which the services start it. */
int artifacts_own_winjoin(struct join *join, struct error *err);
int phase_files(struct join *join, struct error *err);
/* Makes the folders that the kubelet, containerd and Pods need. */
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

/* A phase name of kubeadm's `join phase`. */
struct phase_group {
    const char *name; /* kubeadm's name: "kubelet-start" */
    /* Ids of winjoin's phases, in order, NULL-terminated; none for a control plane's phase. */
    const char *phases[4];
    const char *help;
};
extern const struct phase_group phase_groups[]; /* The last row has no name */

/* Adds the ids of the phases that a name means, in order. Fails with ERROR_USAGE for a phase of a
 * control plane, and for an unknown name, with the most similar name as a hint. */
int phase_names_resolve(const char *name, struct text_list *ret_ids, struct error *err);
/* Adds the ids for a list of names to skip. Phases of a control plane, also sub-phases such as
 * "control-plane-prepare/certs", are accepted and add nothing. */
int phase_names_skipped(const struct text_list *names, struct text_list *ret_ids,
                        struct error *err);

/* ---- a join that continues by itself after a restart of Windows (--restart) ----
 *
 * A service that starts with Windows continues the join, so that nobody must log on. The service
 * host starts the same join with its settings (services/hosted_service.h), in a file that only
 * SYSTEM and Administrators can read. Only this file holds the token. */

#define RESTART_SERVICE "winjoin-join"

/* Copies winjoin.exe to its place, registers a service that continues the join, and restarts
 * Windows; the journal records all this first. The service runs winjoin with `arguments` and
 * `environment`, which has the secrets as NAME=value. Fails as the host's calls. */
int restart_begin(struct join *join, const struct text_list *arguments,
                  const struct text_list *environment, struct error *err);
/* Removes the service and its settings, with the secrets in them, after the join. Succeeds also
 * when they are absent. */
int restart_end(struct host *host, struct error *err);
/* Is the service registered by winjoin and in this state? If it is running, the caller is the join
 * that it started. If it is stopped, it is left over from an earlier join. */
bool restart_service_is(struct host *host, enum host_service_state state);
/* Has the join with these settings written new ones for another restart? */
bool restart_is_next(struct host *host, const struct service_host_settings *started);
