/* The kubelet stand-in's Node and lease. */
#pragma once

#include "tests/standins/kubelet/config.h"
#include "tests/standins/lib/cluster.h"

/* Creates the Node when it is absent (labels, taints as the flags say), posts its status when it
 * changed or is ten seconds old, renews the lease. `ready` false: `why` is the message. */
int node_sync(struct cluster *cluster, const struct kubelet_settings *settings,
              const struct kubelet_flags *flags, bool ready, const char *why, struct error *err);
