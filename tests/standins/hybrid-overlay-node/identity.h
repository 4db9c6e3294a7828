/* The certificate that hybrid-overlay-node asks for with the kubelet's identity. */
#pragma once

#include "tests/standins/lib/cluster.h"

/* Posts a request as upstream does (CN system:ovn-node:NODE, O system:ovn-nodes, signer
 * kubernetes.io/kube-apiserver-client, 24 h) and waits 120 s for the certificate, which goes with
 * its key into the folder; one that is there from an earlier life is used. *ret: path of a
 * kubeconfig with it; the caller frees. */
int identity_get(struct cluster *bootstrap, const char *node, const char *folder, char **ret,
                 struct error *err);
