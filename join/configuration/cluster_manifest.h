/* What an administrator applies once, so that "winjoin join" needs nothing but the endpoint, a
 * token and a pin on every node. */
#pragma once

#include "base/json.h"

#define CLUSTER_MANIFEST_NETWORK "UnknownNetwork"
#define CLUSTER_MANIFEST_DNS "DNSNamespace"

/* The objects in the order in which they are applied, as an array: ConfigMap kube-system/winjoin
 * with the NodeConfiguration, what cluster_network_search() found of an unknown network (NULL:
 * nothing) and the DNS Service's namespace (NULL: kube-system) under the keys below, and who may
 * read it (bootstrap tokens of kubeadm's default group and nodes); for both the right to read what
 * network agents' DaemonSets and settings say, by name in all namespaces, and to list Services; for
 * kube-proxy and the network agents under the node's identity the bindings of system:nodes. New
 * reference. */
json_t *cluster_manifest_make(const json_t *node_configuration, const char *searched,
                              const char *dns_namespace);
/* The objects as YAML documents. The caller frees. */
char *cluster_manifest_text(const json_t *objects);
