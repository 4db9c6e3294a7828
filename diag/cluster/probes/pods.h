/* The namespace of a run: made, filled, waited for, deleted. */
#pragma once

#include "base/json.h"
#include "diag/cluster/cells.h"
#include "diag/cluster/cluster.h"
#include "kube/access.h"

/* ERROR_DENIED with a hint for each missing right; *ret_grant is then what grants them. Nothing is
 * changed. */
int cluster_rights_check(struct kube_client *client, json_t **ret_grant, struct error *err);
/* Deletes what runs that were killed left: namespaces of this manager that are older than the life
 * of their pods. Failures are logged. */
void cluster_sweep(struct kube_client *client);
/* The namespace, a pod for each node that has none `waiting`, and the Services. Kinds of failure:
 * kube_create's. */
int cluster_pods_start(struct kube_client *client, const struct cluster_options *options,
                       struct diag_report *report, struct cluster_addresses *ret,
                       struct error *err);
/* The ExternalName again, where the cluster's domain is another than was guessed. */
int cluster_alias_start(struct kube_client *client, const struct diag_report *report,
                        struct error *err);
/* Waits until each pod runs or never will: those nodes then have `waiting`. ERROR_INTERRUPTED,
 * ERROR_DENIED, ERROR_UNTRUSTED, ERROR_MALFORMED. */
int cluster_pods_await(struct kube_client *client, const struct cluster_options *options,
                       struct diag_report *report, struct error *err);
/* Whether the pods are ready: until all are, or their kubelets have had their time since `begin`
 * (host_monotonic_ms), when they began to run. ERROR_INTERRUPTED alone. */
int cluster_pods_await_ready(struct kube_client *client, struct diag_report *report, uint64_t begin,
                             struct error *err);
/* Deletes the namespace, and so all in it; tries for half a minute. Kinds: kube_delete's. */
int cluster_remove(struct kube_client *client, const char *namespace_, struct error *err);

/* ---- what a diagnosis makes in the cluster ---- */

#define CLUSTER_MANAGER "app.kubernetes.io/managed-by"
#define CLUSTER_MANAGER_NAME "winjoin-diag"

/* agnhost netexec in three containers of a pod. The probe asks others (/dial) for whoever reaches
 * its port: no Service leads there, and there is no shell in it for /shell. Services lead to the
 * neighbor, which answers its name to every request by HTTP; the third answers the pod's DNS
 * settings. These numbers stand in templates/cluster-diagnosis.yaml, too. */
enum { PROBE_HTTP = 8080, PROBE_UDP_ECHO = 8081, NEIGHBOR_HTTP = 8082, NEIGHBOR_UDP = 8083 };
enum { SETTINGS_HTTP = 8084 };
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
