/* --kubeconfig and --context: the cluster that a person names, for every verb that asks one. */
#pragma once

#include "cmd/program.h"
#include "kube/client.h"

/* A client with the credentials of that kubeconfig, a plugin's, too: it may run a program, as
 * kubectl does. `unnamed`: the file where the flag is absent. kube_client_close(). ERROR_USAGE
 * for a file that cannot be read, ERROR_UNSUPPORTED for impersonation; kubeconfig_run_plugin(),
 * kube_client_open(). */
int given_cluster_open(struct program *program, const char *unnamed, struct kube_client *ret,
                       struct error *err);
