/* Is a pod prefix left for this node? The controller manager cuts the pod subnet into equal parts
 * and gives each Node one; when they are all given away, a new Node waits for ever. */
#pragma once

#include "join/join.h"

/* Pure: ERROR_CONFLICT where a pod subnet of the cluster is cut into parts (node_masks) that
 * Nodes other than `own` have all; with who has them and what to do. 0 also where that cannot be
 * told. `nodes`: a NodeList; NULL: not known, and one is that of the control plane. */
int pod_room_check(const struct cluster_config *cluster, const json_t *nodes, const char *own,
                   struct error *err);
/* The same for the cluster as it is now, where its Nodes may be listed with them. */
int pod_room_look(struct join *join, struct error *err);
