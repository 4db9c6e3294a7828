/* What a KubeletConfiguration may hold: names and types (kubelet.config.k8s.io/v1beta1 as of 1.37).
 */
#include <stddef.h>

#include "join/configuration/cluster_schema.h"

static const struct yaml_field x509_fields[] = {
    {"clientCAFile", YAML_FIELD_TEXT, NULL},
    {0},
};
static const struct yaml_field webhook_authentication_fields[] = {
    {"enabled", YAML_FIELD_BOOL, NULL},
    {"cacheTTL", YAML_FIELD_GIVEN_DURATION, NULL},
    {0},
};
static const struct yaml_field anonymous_fields[] = {
    {"enabled", YAML_FIELD_BOOL, NULL},
    {0},
};
static const struct yaml_field authentication_fields[] = {
    {"x509", YAML_FIELD_OBJECT, x509_fields},
    {"webhook", YAML_FIELD_OBJECT, webhook_authentication_fields},
    {"anonymous", YAML_FIELD_OBJECT, anonymous_fields},
    {0},
};
static const struct yaml_field webhook_authorization_fields[] = {
    {"cacheAuthorizedTTL", YAML_FIELD_GIVEN_DURATION, NULL},
    {"cacheUnauthorizedTTL", YAML_FIELD_GIVEN_DURATION, NULL},
    {0},
};
static const struct yaml_field authorization_fields[] = {
    {"mode", YAML_FIELD_TEXT, NULL},
    {"webhook", YAML_FIELD_OBJECT, webhook_authorization_fields},
    {0},
};
static const struct yaml_field memory_swap_fields[] = {
    {"swapBehavior", YAML_FIELD_TEXT, NULL},
    {0},
};
static const struct yaml_field shutdown_fields[] = {
    {"priority", YAML_FIELD_NUMBER, NULL},
    {"shutdownGracePeriodSeconds", YAML_FIELD_INT64, NULL},
    {0},
};
static const struct yaml_field crash_loop_fields[] = {
    {"maxContainerRestartPeriod", YAML_FIELD_SIGNED_DURATION, NULL},
    {0},
};
static const struct yaml_field memory_reservation_fields[] = {
    {"numaNode", YAML_FIELD_NUMBER, NULL},
    {"limits", YAML_FIELD_QUANTITY_MAP, NULL},
    {0},
};
static const struct yaml_field user_namespaces_fields[] = {
    {"idsPerPod", YAML_FIELD_INT64, NULL},
    {0},
};
static const struct yaml_field tracing_fields[] = {
    {"endpoint", YAML_FIELD_TEXT, NULL},
    {"samplingRatePerMillion", YAML_FIELD_NUMBER, NULL},
    {0},
};
static const struct yaml_field log_output_fields[] = {
    {"splitStream", YAML_FIELD_BOOL, NULL},
    {"infoBufferSize", YAML_FIELD_QUANTITY, NULL},
    {0},
};
static const struct yaml_field log_options_fields[] = {
    {"text", YAML_FIELD_OBJECT, log_output_fields},
    {"json", YAML_FIELD_OBJECT, log_output_fields},
    {0},
};
static const struct yaml_field vmodule_fields[] = {
    {"filePattern", YAML_FIELD_TEXT, NULL},
    {"verbosity", YAML_FIELD_NUMBER, NULL},
    {0},
};
static const struct yaml_field logging_fields[] = {
    {"format", YAML_FIELD_TEXT, NULL},
    {"flushFrequency", YAML_FIELD_FREQUENCY, NULL},
    {"verbosity", YAML_FIELD_NUMBER, NULL},
    {"vmodule", YAML_FIELD_OBJECTS, vmodule_fields},
    {"options", YAML_FIELD_OBJECT, log_options_fields},
    {0},
};
static const struct yaml_field fields[] = {
    {"apiVersion", YAML_FIELD_TEXT, NULL},
    {"kind", YAML_FIELD_TEXT, NULL},
    {"enableServer", YAML_FIELD_BOOL, NULL},
    {"staticPodPath", YAML_FIELD_TEXT, NULL},
    {"podLogsDir", YAML_FIELD_TEXT, NULL},
    {"syncFrequency", YAML_FIELD_GIVEN_DURATION, NULL},
    {"fileCheckFrequency", YAML_FIELD_GIVEN_DURATION, NULL},
    {"httpCheckFrequency", YAML_FIELD_GIVEN_DURATION, NULL},
    {"staticPodURL", YAML_FIELD_TEXT, NULL},
    {"staticPodURLHeader", YAML_FIELD_TEXTS_MAP, NULL},
    {"address", YAML_FIELD_TEXT, NULL},
    {"port", YAML_FIELD_NUMBER, NULL},
    {"readOnlyPort", YAML_FIELD_NUMBER, NULL},
    {"tlsCertFile", YAML_FIELD_TEXT, NULL},
    {"tlsPrivateKeyFile", YAML_FIELD_TEXT, NULL},
    {"tlsCipherSuites", YAML_FIELD_TEXTS, NULL},
    {"tlsCurvePreferences", YAML_FIELD_NUMBERS, NULL},
    {"tlsMinVersion", YAML_FIELD_TEXT, NULL},
    {"rotateCertificates", YAML_FIELD_BOOL, NULL},
    {"serverTLSBootstrap", YAML_FIELD_BOOL, NULL},
    {"authentication", YAML_FIELD_OBJECT, authentication_fields},
    {"authorization", YAML_FIELD_OBJECT, authorization_fields},
    {"registryPullQPS", YAML_FIELD_NUMBER, NULL},
    {"registryBurst", YAML_FIELD_NUMBER, NULL},
    {"imagePullCredentialsVerificationPolicy", YAML_FIELD_TEXT, NULL},
    {"preloadedImagesVerificationAllowlist", YAML_FIELD_TEXTS, NULL},
    {"eventRecordQPS", YAML_FIELD_NUMBER, NULL},
    {"eventBurst", YAML_FIELD_NUMBER, NULL},
    {"enableDebuggingHandlers", YAML_FIELD_BOOL, NULL},
    {"enableContentionProfiling", YAML_FIELD_BOOL, NULL},
    {"healthzPort", YAML_FIELD_NUMBER, NULL},
    {"healthzBindAddress", YAML_FIELD_TEXT, NULL},
    {"oomScoreAdj", YAML_FIELD_NUMBER, NULL},
    {"clusterDomain", YAML_FIELD_TEXT, NULL},
    {"clusterDNS", YAML_FIELD_TEXTS, NULL},
    {"streamingConnectionIdleTimeout", YAML_FIELD_GIVEN_DURATION, NULL},
    {"nodeStatusUpdateFrequency", YAML_FIELD_GIVEN_DURATION, NULL},
    {"nodeStatusReportFrequency", YAML_FIELD_GIVEN_DURATION, NULL},
    {"nodeLeaseDurationSeconds", YAML_FIELD_NUMBER, NULL},
    {"imageMinimumGCAge", YAML_FIELD_GIVEN_DURATION, NULL},
    {"imageMaximumGCAge", YAML_FIELD_GIVEN_DURATION, NULL},
    {"imageGCHighThresholdPercent", YAML_FIELD_NUMBER, NULL},
    {"imageGCLowThresholdPercent", YAML_FIELD_NUMBER, NULL},
    {"volumeStatsAggPeriod", YAML_FIELD_GIVEN_DURATION, NULL},
    {"kubeletCgroups", YAML_FIELD_TEXT, NULL},
    {"systemCgroups", YAML_FIELD_TEXT, NULL},
    {"cgroupRoot", YAML_FIELD_TEXT, NULL},
    {"cgroupsPerQOS", YAML_FIELD_BOOL, NULL},
    {"cgroupDriver", YAML_FIELD_TEXT, NULL},
    {"cpuManagerPolicy", YAML_FIELD_TEXT, NULL},
    {"singleProcessOOMKill", YAML_FIELD_BOOL, NULL},
    {"cpuManagerPolicyOptions", YAML_FIELD_TEXT_MAP, NULL},
    {"cpuManagerReconcilePeriod", YAML_FIELD_GIVEN_DURATION, NULL},
    {"memoryManagerPolicy", YAML_FIELD_TEXT, NULL},
    {"topologyManagerPolicy", YAML_FIELD_TEXT, NULL},
    {"topologyManagerScope", YAML_FIELD_TEXT, NULL},
    {"topologyManagerPolicyOptions", YAML_FIELD_TEXT_MAP, NULL},
    {"qosReserved", YAML_FIELD_TEXT_MAP, NULL},
    {"runtimeRequestTimeout", YAML_FIELD_GIVEN_DURATION, NULL},
    {"hairpinMode", YAML_FIELD_TEXT, NULL},
    {"maxPods", YAML_FIELD_NUMBER, NULL},
    {"podCIDR", YAML_FIELD_TEXT, NULL},
    {"podPidsLimit", YAML_FIELD_INT64, NULL},
    {"resolvConf", YAML_FIELD_TEXT, NULL},
    {"runOnce", YAML_FIELD_BOOL, NULL},
    {"cpuCFSQuota", YAML_FIELD_BOOL, NULL},
    {"cpuCFSQuotaPeriod", YAML_FIELD_SIGNED_DURATION, NULL},
    {"nodeStatusMaxImages", YAML_FIELD_NUMBER, NULL},
    {"maxOpenFiles", YAML_FIELD_INT64, NULL},
    {"contentType", YAML_FIELD_TEXT, NULL},
    {"kubeAPIQPS", YAML_FIELD_NUMBER, NULL},
    {"kubeAPIBurst", YAML_FIELD_NUMBER, NULL},
    {"serializeImagePulls", YAML_FIELD_BOOL, NULL},
    {"maxParallelImagePulls", YAML_FIELD_NUMBER, NULL},
    {"evictionHard", YAML_FIELD_TEXT_MAP, NULL},
    {"evictionSoft", YAML_FIELD_TEXT_MAP, NULL},
    {"evictionSoftGracePeriod", YAML_FIELD_TEXT_MAP, NULL},
    {"evictionPressureTransitionPeriod", YAML_FIELD_GIVEN_DURATION, NULL},
    {"evictionMaxPodGracePeriod", YAML_FIELD_NUMBER, NULL},
    {"evictionMinimumReclaim", YAML_FIELD_TEXT_MAP, NULL},
    {"mergeDefaultEvictionSettings", YAML_FIELD_BOOL, NULL},
    {"podsPerCore", YAML_FIELD_NUMBER, NULL},
    {"enableControllerAttachDetach", YAML_FIELD_BOOL, NULL},
    {"protectKernelDefaults", YAML_FIELD_BOOL, NULL},
    {"makeIPTablesUtilChains", YAML_FIELD_BOOL, NULL},
    {"iptablesMasqueradeBit", YAML_FIELD_NUMBER, NULL},
    {"iptablesDropBit", YAML_FIELD_NUMBER, NULL},
    {"featureGates", YAML_FIELD_BOOL_MAP, NULL},
    {"failSwapOn", YAML_FIELD_BOOL, NULL},
    {"memorySwap", YAML_FIELD_OBJECT, memory_swap_fields},
    {"containerLogMaxSize", YAML_FIELD_TEXT, NULL},
    {"containerLogMaxFiles", YAML_FIELD_NUMBER, NULL},
    {"containerLogMaxWorkers", YAML_FIELD_NUMBER, NULL},
    {"containerLogMonitorInterval", YAML_FIELD_SIGNED_DURATION, NULL},
    {"configMapAndSecretChangeDetectionStrategy", YAML_FIELD_TEXT, NULL},
    {"systemReserved", YAML_FIELD_TEXT_MAP, NULL},
    {"kubeReserved", YAML_FIELD_TEXT_MAP, NULL},
    {"reservedSystemCPUs", YAML_FIELD_TEXT, NULL},
    {"showHiddenMetricsForVersion", YAML_FIELD_TEXT, NULL},
    {"systemReservedCgroup", YAML_FIELD_TEXT, NULL},
    {"kubeReservedCgroup", YAML_FIELD_TEXT, NULL},
    {"enforceNodeAllocatable", YAML_FIELD_TEXTS, NULL},
    {"allowedUnsafeSysctls", YAML_FIELD_TEXTS, NULL},
    {"defaultPodSysctls", YAML_FIELD_TEXT_MAP, NULL},
    {"volumePluginDir", YAML_FIELD_TEXT, NULL},
    {"providerID", YAML_FIELD_TEXT, NULL},
    {"kernelMemcgNotification", YAML_FIELD_BOOL, NULL},
    {"logging", YAML_FIELD_OBJECT, logging_fields},
    {"enableSystemLogHandler", YAML_FIELD_BOOL, NULL},
    {"enableSystemLogQuery", YAML_FIELD_BOOL, NULL},
    {"shutdownGracePeriod", YAML_FIELD_GIVEN_DURATION, NULL},
    {"shutdownGracePeriodCriticalPods", YAML_FIELD_GIVEN_DURATION, NULL},
    {"shutdownGracePeriodByPodPriority", YAML_FIELD_OBJECTS, shutdown_fields},
    {"crashLoopBackOff", YAML_FIELD_OBJECT, crash_loop_fields},
    {"reservedMemory", YAML_FIELD_OBJECTS, memory_reservation_fields},
    {"enableProfilingHandler", YAML_FIELD_BOOL, NULL},
    {"enableDebugFlagsHandler", YAML_FIELD_BOOL, NULL},
    {"seccompDefault", YAML_FIELD_BOOL, NULL},
    {"memoryThrottlingFactor", YAML_FIELD_REAL, NULL},
    {"memoryReservationPolicy", YAML_FIELD_TEXT, NULL},
    {"registerWithTaints", YAML_FIELD_OBJECTS, schema_taint},
    {"registerNode", YAML_FIELD_BOOL, NULL},
    {"tracing", YAML_FIELD_OBJECT, tracing_fields},
    {"localStorageCapacityIsolation", YAML_FIELD_BOOL, NULL},
    {"containerRuntimeEndpoint", YAML_FIELD_TEXT, NULL},
    {"imageServiceEndpoint", YAML_FIELD_TEXT, NULL},
    {"failCgroupV1", YAML_FIELD_BOOL, NULL},
    {"userNamespaces", YAML_FIELD_OBJECT, user_namespaces_fields},
    {0},
};

const struct yaml_field *kubelet_configuration_fields(void) {
    return fields;
}
