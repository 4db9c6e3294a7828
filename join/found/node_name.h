/* Whose the node's name is in the cluster, and what to do when a Ready Node has it already. */
#pragma once

#include "join/join.h"

enum node_name_state {
    NODE_NAME_FREE,      /* no Node has it */
    NODE_NAME_NOT_READY, /* one has it that is not Ready: it is taken over, as kubeadm does */
    NODE_NAME_OURS,      /* this machine is that node: kubelet.conf is here */
    NODE_NAME_EARLIER,   /* Ready with an address of this machine, which is no node now: an earlier
                            life, whose kubelet the control plane has not missed yet */
    NODE_NAME_TAKEN,     /* Ready, another machine's */
};
/* Asks for the Node. Kinds: those of kube_node_get but ERROR_ABSENT. */
int node_name_look(struct host *host, struct kube_client *client, const char *name,
                   enum node_name_state *ret, struct error *err);
/* Succeeds when this machine may have the name; waits while it is NODE_NAME_EARLIER (kubeadm
 * refuses; the controller manager misses a kubelet after its node-monitor-grace-period of 40 or
 * 50 s), but not in a dry run. ERROR_CONFLICT when it is taken. */
int node_name_claim(struct join *join, struct error *err);
