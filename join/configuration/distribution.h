/* Who made a cluster in which something that kubeadm leaves is missing, by the version that its API
 * server tells (/version, gitVersion). */
#pragma once

/* What an administrator does where winjoin cannot join: "v1.34.1+rke2r1" has an agent of its own
 * for Windows. Static; NULL of any other version, and of NULL. Sources: the release tags of
 * rancher/rke2 and k3s-io/k3s, and the versions that EKS and GKE tell. */
const char *distribution_hint(const char *version);

/* For all others. */
#define NOT_BY_KUBEADM_HINT                                                                        \
    "in a cluster that kubeadm did not make: winjoin config print kubeadm-objects prints what "    \
    "joins need; put in the cluster's values and apply it"
