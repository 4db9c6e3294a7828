/* The namespace of a run: made, filled, waited for, deleted. */
#pragma once

#include "diag/cluster/cells.h"
#include "diag/cluster/cluster.h"

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
