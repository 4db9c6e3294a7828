/* Names and types of the fields in Kubernetes' configuration documents. */
#ifndef JOIN_CONFIGURATION_CLUSTER_SCHEMA_H
#define JOIN_CONFIGURATION_CLUSTER_SCHEMA_H

#include "base/yaml_schema.h"

/* ClusterConfiguration of this apiVersion (kubeadm.k8s.io/v1beta3, v1beta4); NULL for others. */
const struct yaml_field *cluster_configuration_fields(const char *api_version);
/* KubeletConfiguration of kubelet.config.k8s.io/v1beta1. */
const struct yaml_field *kubelet_configuration_fields(void);

/* KubeProxyConfiguration of kubeproxy.config.k8s.io/v1alpha1. */
const struct yaml_field *kube_proxy_configuration_fields(void);

/* Parts that several have: Taint of core/v1, Arg of kubeadm's v1beta4, LoggingConfiguration of
 * component-base. */
extern const struct yaml_field schema_taint[], schema_argument[], schema_logging[];

#endif
