/* NodeConfiguration (winjoin.io/v1alpha1): winjoin's settings beyond kubeadm's JoinConfiguration,
 * in a --config file or for the whole cluster in ConfigMap kube-system/winjoin. */
#pragma once

#include "join/configuration/join_options.h"

#define NODE_CONFIGURATION_KIND "NodeConfiguration"
#define NODE_CONFIGURATION_V1ALPHA1 "winjoin.io/v1alpha1"

/* Reads one document, strictly, with its values checked. `what` names it. Fails with ERROR_USAGE;
 * *ret is a new reference. */
int node_configuration_read(const char *text, size_t len, const char *what, json_t **ret,
                            struct error *err);
/* The same judgment of a document whose kind and version were read. */
int node_configuration_check(const struct yaml *yaml, const json_t *document, struct error *err);
/* Of the cluster's defaults: ERROR_USAGE where they name a file of the machine. Who may write the
 * ConfigMap would have each new node open a path of their choice, and install what is there. */
int node_configuration_check_cluster(const json_t *configuration, const char *what,
                                     struct error *err);
/* Fills what is not given yet. */
void node_configuration_apply(const json_t *configuration, struct join_options *options);

/* A NodeConfiguration of those of its fields that the options give. New reference. */
json_t *node_configuration_make(const struct join_options *options);
