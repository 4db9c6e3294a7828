/* What a diagnosis makes in the cluster. Each function answers a new reference. */
#pragma once

#include "base/json.h"
#include "diag/cluster/cluster.h"
#include "kube/access.h"

#define CLUSTER_MANAGER "app.kubernetes.io/managed-by"
#define CLUSTER_MANAGER_NAME "winjoin-diag"

/* agnhost netexec of the probe, and of its neighbor, the second container of the pod. The probe
 * also runs commands (/shell, /dial), for whoever reaches its port: no Service leads there. They
 * lead to the neighbor, which answers its name to every request by HTTP. These numbers stand in
 * templates/cluster-diagnosis.yaml, too. */
enum { PROBE_HTTP = 8080, PROBE_UDP_ECHO = 8081, NEIGHBOR_HTTP = 8082, NEIGHBOR_UDP = 8083 };
enum { SERVICE_HTTP = 80, SERVICE_UDP = 90, POD_LIFE_SECONDS = 900 };

/* Pod Security "restricted": the probes need no more. */
json_t *cluster_namespace_make(const char *name);
/* The probe of a node, put there past the scheduler, so that a cordoned node is tested, too. */
json_t *cluster_pod_make(const struct cluster_node *node, const char *image);
/* The Services, an array: "probes" (headless), "backend", "sticky" (session affinity), "local"
 * (externalTrafficPolicy), "self" (internalTrafficPolicy, which leads a pod to itself), "alias"
 * (ExternalName of the Service kubernetes). */
json_t *cluster_services_make(const char *domain);
/* The ExternalName alone, for a domain that was not guessed: "domain-alias". */
json_t *cluster_alias_make(const char *domain);

/* The rights that a run needs, in the order in which they are told. */
enum { CLUSTER_RIGHTS = 9 };
extern const struct kube_right cluster_rights[CLUSTER_RIGHTS];
/* A List of ClusterRole and ClusterRoleBinding that grants all of them to this user. */
json_t *cluster_grant_make(const char *user);
