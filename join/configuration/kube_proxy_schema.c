/* What a KubeProxyConfiguration may hold: names and types (kubeproxy.config.k8s.io/v1alpha1 as of
 * 1.37). */
#include <stddef.h>

#include "join/configuration/cluster_schema.h"

static const struct yaml_field connection_fields[] = {
    {"kubeconfig", YAML_FIELD_TEXT, NULL},  {"acceptContentTypes", YAML_FIELD_TEXT, NULL},
    {"contentType", YAML_FIELD_TEXT, NULL}, {"qps", YAML_FIELD_REAL, NULL},
    {"burst", YAML_FIELD_NUMBER, NULL},     {0},
};
static const struct yaml_field iptables_fields[] = {
    {"masqueradeBit", YAML_FIELD_NUMBER, NULL},
    {"masqueradeAll", YAML_FIELD_BOOL, NULL},
    {"localhostNodePorts", YAML_FIELD_BOOL, NULL},
    {"syncPeriod", YAML_FIELD_GIVEN_DURATION, NULL},
    {"minSyncPeriod", YAML_FIELD_GIVEN_DURATION, NULL},
    {0},
};
static const struct yaml_field ipvs_fields[] = {
    {"syncPeriod", YAML_FIELD_GIVEN_DURATION, NULL},
    {"minSyncPeriod", YAML_FIELD_GIVEN_DURATION, NULL},
    {"scheduler", YAML_FIELD_TEXT, NULL},
    {"excludeCIDRs", YAML_FIELD_TEXTS, NULL},
    {"strictARP", YAML_FIELD_BOOL, NULL},
    {"tcpTimeout", YAML_FIELD_GIVEN_DURATION, NULL},
    {"tcpFinTimeout", YAML_FIELD_GIVEN_DURATION, NULL},
    {"udpTimeout", YAML_FIELD_GIVEN_DURATION, NULL},
    {0},
};
static const struct yaml_field nftables_fields[] = {
    {"masqueradeBit", YAML_FIELD_NUMBER, NULL},
    {"masqueradeAll", YAML_FIELD_BOOL, NULL},
    {"syncPeriod", YAML_FIELD_GIVEN_DURATION, NULL},
    {"minSyncPeriod", YAML_FIELD_GIVEN_DURATION, NULL},
    {0},
};
static const struct yaml_field winkernel_fields[] = {
    {"networkName", YAML_FIELD_TEXT, NULL},
    {"sourceVip", YAML_FIELD_TEXT, NULL},
    {"enableDSR", YAML_FIELD_BOOL, NULL},
    {"rootHnsEndpointName", YAML_FIELD_TEXT, NULL},
    {"forwardHealthCheckVip", YAML_FIELD_BOOL, NULL},
    {0},
};
static const struct yaml_field detect_local_fields[] = {
    {"bridgeInterface", YAML_FIELD_TEXT, NULL},
    {"interfaceNamePrefix", YAML_FIELD_TEXT, NULL},
    {0},
};
static const struct yaml_field conntrack_fields[] = {
    {"maxPerCore", YAML_FIELD_NUMBER, NULL},
    {"min", YAML_FIELD_NUMBER, NULL},
    {"tcpEstablishedTimeout", YAML_FIELD_SIGNED_DURATION, NULL},
    {"tcpCloseWaitTimeout", YAML_FIELD_SIGNED_DURATION, NULL},
    {"tcpBeLiberal", YAML_FIELD_BOOL, NULL},
    {"udpTimeout", YAML_FIELD_GIVEN_DURATION, NULL},
    {"udpStreamTimeout", YAML_FIELD_GIVEN_DURATION, NULL},
    {0},
};
static const struct yaml_field fields[] = {
    {"apiVersion", YAML_FIELD_TEXT, NULL},
    {"kind", YAML_FIELD_TEXT, NULL},
    {"featureGates", YAML_FIELD_BOOL_MAP, NULL},
    {"clientConnection", YAML_FIELD_OBJECT, connection_fields},
    {"logging", YAML_FIELD_OBJECT, schema_logging},
    {"hostnameOverride", YAML_FIELD_TEXT, NULL},
    {"bindAddress", YAML_FIELD_TEXT, NULL},
    {"healthzBindAddress", YAML_FIELD_TEXT, NULL},
    {"metricsBindAddress", YAML_FIELD_TEXT, NULL},
    {"bindAddressHardFail", YAML_FIELD_BOOL, NULL},
    {"enableProfiling", YAML_FIELD_BOOL, NULL},
    {"showHiddenMetricsForVersion", YAML_FIELD_TEXT, NULL},
    {"mode", YAML_FIELD_TEXT, NULL},
    {"iptables", YAML_FIELD_OBJECT, iptables_fields},
    {"ipvs", YAML_FIELD_OBJECT, ipvs_fields},
    {"nftables", YAML_FIELD_OBJECT, nftables_fields},
    {"winkernel", YAML_FIELD_OBJECT, winkernel_fields},
    {"detectLocalMode", YAML_FIELD_TEXT, NULL},
    {"detectLocal", YAML_FIELD_OBJECT, detect_local_fields},
    {"clusterCIDR", YAML_FIELD_TEXT, NULL},
    {"nodePortAddresses", YAML_FIELD_TEXTS, NULL},
    {"oomScoreAdj", YAML_FIELD_NUMBER, NULL},
    {"conntrack", YAML_FIELD_OBJECT, conntrack_fields},
    {"configSyncPeriod", YAML_FIELD_GIVEN_DURATION, NULL},
    {"portRange", YAML_FIELD_TEXT, NULL},
    {"windowsRunAsService", YAML_FIELD_BOOL, NULL},
    {0},
};

const struct yaml_field *kube_proxy_configuration_fields(void) {
    return fields;
}
