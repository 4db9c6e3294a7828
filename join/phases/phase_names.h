/* What phases are called: winjoin's names, and kubeadm's for one or several of them. */
#pragma once

#include "base/error.h"
#include "base/text.h"

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
