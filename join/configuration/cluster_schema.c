/* What a ClusterConfiguration may hold: names and types (kubeadm.k8s.io/v1beta3 and v1beta4). */
#include "join/configuration/cluster_schema.h"

#include "base/text.h"

/* The environment is a Pod's: what may stand beside name and value is of no use here. */
static const struct yaml_field environment_fields[] = {
    {"name", YAML_FIELD_TEXT, NULL},
    {"value", YAML_FIELD_TEXT, NULL},
    {"valueFrom", YAML_FIELD_ANY, NULL},
    {0},
};
static const struct yaml_field volume_fields[] = {
    {"name", YAML_FIELD_TEXT, NULL},      {"hostPath", YAML_FIELD_TEXT, NULL},
    {"mountPath", YAML_FIELD_TEXT, NULL}, {"readOnly", YAML_FIELD_BOOL, NULL},
    {"pathType", YAML_FIELD_TEXT, NULL},  {0},
};
static const struct yaml_field networking_fields[] = {
    {"serviceSubnet", YAML_FIELD_TEXT, NULL},
    {"podSubnet", YAML_FIELD_TEXT, NULL},
    {"dnsDomain", YAML_FIELD_TEXT, NULL},
    {0},
};
static const struct yaml_field dns_fields[] = {
    {"imageRepository", YAML_FIELD_TEXT, NULL},
    {"imageTag", YAML_FIELD_TEXT, NULL},
    {"disabled", YAML_FIELD_BOOL, NULL},
    {0},
};
static const struct yaml_field proxy_fields[] = {
    {"disabled", YAML_FIELD_BOOL, NULL},
    {0},
};
static const struct yaml_field external_etcd_fields[] = {
    {"endpoints", YAML_FIELD_TEXTS, NULL}, {"httpEndpoints", YAML_FIELD_TEXTS, NULL},
    {"caFile", YAML_FIELD_TEXT, NULL},     {"certFile", YAML_FIELD_TEXT, NULL},
    {"keyFile", YAML_FIELD_TEXT, NULL},    {0},
};
static const struct yaml_field local_etcd_fields_v1beta3[] = {
    {"imageRepository", YAML_FIELD_TEXT, NULL},
    {"imageTag", YAML_FIELD_TEXT, NULL},
    {"dataDir", YAML_FIELD_TEXT, NULL},
    {"extraArgs", YAML_FIELD_TEXT_MAP, NULL},
    {"serverCertSANs", YAML_FIELD_TEXTS, NULL},
    {"peerCertSANs", YAML_FIELD_TEXTS, NULL},
    {0},
};
static const struct yaml_field etcd_fields_v1beta3[] = {
    {"local", YAML_FIELD_OBJECT, local_etcd_fields_v1beta3},
    {"external", YAML_FIELD_OBJECT, external_etcd_fields},
    {0},
};
static const struct yaml_field component_fields_v1beta3[] = {
    {"extraArgs", YAML_FIELD_TEXT_MAP, NULL},
    {"extraVolumes", YAML_FIELD_OBJECTS, volume_fields},
    {0},
};
static const struct yaml_field api_server_fields_v1beta3[] = {
    {"extraArgs", YAML_FIELD_TEXT_MAP, NULL},
    {"extraVolumes", YAML_FIELD_OBJECTS, volume_fields},
    {"certSANs", YAML_FIELD_TEXTS, NULL},
    {"timeoutForControlPlane", YAML_FIELD_SIGNED_DURATION, NULL},
    {0},
};
static const struct yaml_field fields_v1beta3[] = {
    {"apiVersion", YAML_FIELD_TEXT, NULL},
    {"kind", YAML_FIELD_TEXT, NULL},
    {"etcd", YAML_FIELD_OBJECT, etcd_fields_v1beta3},
    {"networking", YAML_FIELD_OBJECT, networking_fields},
    {"kubernetesVersion", YAML_FIELD_TEXT, NULL},
    {"controlPlaneEndpoint", YAML_FIELD_TEXT, NULL},
    {"apiServer", YAML_FIELD_OBJECT, api_server_fields_v1beta3},
    {"controllerManager", YAML_FIELD_OBJECT, component_fields_v1beta3},
    {"scheduler", YAML_FIELD_OBJECT, component_fields_v1beta3},
    {"dns", YAML_FIELD_OBJECT, dns_fields},
    {"certificatesDir", YAML_FIELD_TEXT, NULL},
    {"imageRepository", YAML_FIELD_TEXT, NULL},
    {"featureGates", YAML_FIELD_BOOL_MAP, NULL},
    {"clusterName", YAML_FIELD_TEXT, NULL},
    {0},
};
static const struct yaml_field local_etcd_fields_v1beta4[] = {
    {"imageRepository", YAML_FIELD_TEXT, NULL},
    {"imageTag", YAML_FIELD_TEXT, NULL},
    {"dataDir", YAML_FIELD_TEXT, NULL},
    {"extraArgs", YAML_FIELD_OBJECTS, schema_argument},
    {"extraEnvs", YAML_FIELD_OBJECTS, environment_fields},
    {"serverCertSANs", YAML_FIELD_TEXTS, NULL},
    {"peerCertSANs", YAML_FIELD_TEXTS, NULL},
    {0},
};
static const struct yaml_field etcd_fields_v1beta4[] = {
    {"local", YAML_FIELD_OBJECT, local_etcd_fields_v1beta4},
    {"external", YAML_FIELD_OBJECT, external_etcd_fields},
    {0},
};
static const struct yaml_field component_fields_v1beta4[] = {
    {"extraArgs", YAML_FIELD_OBJECTS, schema_argument},
    {"extraVolumes", YAML_FIELD_OBJECTS, volume_fields},
    {"extraEnvs", YAML_FIELD_OBJECTS, environment_fields},
    {0},
};
static const struct yaml_field api_server_fields_v1beta4[] = {
    {"extraArgs", YAML_FIELD_OBJECTS, schema_argument},
    {"extraVolumes", YAML_FIELD_OBJECTS, volume_fields},
    {"extraEnvs", YAML_FIELD_OBJECTS, environment_fields},
    {"certSANs", YAML_FIELD_TEXTS, NULL},
    {0},
};
static const struct yaml_field fields_v1beta4[] = {
    {"apiVersion", YAML_FIELD_TEXT, NULL},
    {"kind", YAML_FIELD_TEXT, NULL},
    {"etcd", YAML_FIELD_OBJECT, etcd_fields_v1beta4},
    {"networking", YAML_FIELD_OBJECT, networking_fields},
    {"kubernetesVersion", YAML_FIELD_TEXT, NULL},
    {"controlPlaneEndpoint", YAML_FIELD_TEXT, NULL},
    {"apiServer", YAML_FIELD_OBJECT, api_server_fields_v1beta4},
    {"controllerManager", YAML_FIELD_OBJECT, component_fields_v1beta4},
    {"scheduler", YAML_FIELD_OBJECT, component_fields_v1beta4},
    {"dns", YAML_FIELD_OBJECT, dns_fields},
    {"proxy", YAML_FIELD_OBJECT, proxy_fields},
    {"certificatesDir", YAML_FIELD_TEXT, NULL},
    {"imageRepository", YAML_FIELD_TEXT, NULL},
    {"featureGates", YAML_FIELD_BOOL_MAP, NULL},
    {"clusterName", YAML_FIELD_TEXT, NULL},
    {"encryptionAlgorithm", YAML_FIELD_TEXT, NULL},
    {"certificateValidityPeriod", YAML_FIELD_SIGNED_DURATION, NULL},
    {"caCertificateValidityPeriod", YAML_FIELD_SIGNED_DURATION, NULL},
    {0},
};

const struct yaml_field *cluster_configuration_fields(const char *api_version) {
    if (text_equal(api_version, "kubeadm.k8s.io/v1beta3"))
        return fields_v1beta3;
    return text_equal(api_version, "kubeadm.k8s.io/v1beta4") ? fields_v1beta4 : NULL;
}
