/* The node's pods, which reset ends before it takes away what they stand on. */
#pragma once

#include "join/undo/journal.h"
#include "join/undo/reset.h"

/* Has the container runtime end every pod that the kubelet made (as kubeadm reset does), where the
 * kubelet is winjoin's and the runtime answers: their containers hold programs and folders, and
 * only the runtime knows their networks whole. The kubelet must be stopped. A pod that stays is
 * told, counted in ret->failed, and the first one is *err; the rest goes on. A dry run tells the
 * pods alone. */
void reset_pods(const struct journal *journal, const struct reset_options *options,
                struct reset_result *ret, struct error *err);
