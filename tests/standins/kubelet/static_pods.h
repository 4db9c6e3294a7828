/* The kubelet stand-in's static pods: manifests in, pods on the runtime, mirror pods out. */
#pragma once

#include "base/json.h"
#include "tests/standins/kubelet/config.h"
#include "tests/standins/lib/cluster.h"

/* One round: reads the folder, starts what is missing (with a ready network only), stops what has
 * no manifest any more. What fails is logged and tried again in a later round. */
void static_pods_sync(struct host *host, const struct kubelet_settings *settings, bool ready);
/* One round: a mirror pod for each manifest, its status as the runtime says, none without one. */
void mirror_pods_sync(struct cluster *cluster, const struct kubelet_settings *settings);
/* The Pod objects of the manifests by uid (borrowed), filled by static_pods_sync(). */
const json_t *static_pods(void);
