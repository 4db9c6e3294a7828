/* The table of what is Linux's alone, for the kubelet's configuration and its arguments. */
#include "join/configuration/linux_settings.h"

#include <ctype.h>

#include "base/text.h"

const struct linux_setting linux_settings[] = {
    {"allowedUnsafeSysctls", NULL, NULL},
    {"cgroupDriver", NULL, NULL},
    {"cgroupRoot", NULL, NULL},
    {"cpuCFSQuotaPeriod", NULL, NULL},
    {"cpuManagerPolicy", "WindowsCPUAndMemoryAffinity", NULL},
    {"cpuManagerPolicyOptions", "WindowsCPUAndMemoryAffinity", NULL},
    {"cpuManagerReconcilePeriod", "WindowsCPUAndMemoryAffinity", NULL},
    {"defaultPodSysctls", NULL, NULL}, /* the kubelet refuses to start with it */
    {"failCgroupV1", NULL, NULL},
    {"failSwapOn", NULL, NULL},
    {"imageServiceEndpoint", NULL, "/"},
    {"imageServiceEndpoint", NULL, "unix:"},
    {"iptablesDropBit", NULL, NULL},
    {"iptablesMasqueradeBit", NULL, NULL},
    {"kernelMemcgNotification", NULL, NULL},
    {"kubeReservedCgroup", NULL, NULL},
    {"kubeletCgroups", NULL, NULL},
    {"makeIPTablesUtilChains", NULL, NULL},
    {"memoryManagerPolicy", "WindowsCPUAndMemoryAffinity", NULL},
    {"memoryManagerPolicy", NULL, "Static"}, /* the kubelet for Windows has none such */
    {"memoryReservationPolicy", NULL, NULL},
    {"memorySwap", NULL, NULL},
    {"memoryThrottlingFactor", NULL, NULL},
    {"oomScoreAdj", NULL, NULL},
    {"podLogsDir", NULL, "/"},
    {"podPidsLimit", NULL, NULL},
    {"protectKernelDefaults", NULL, NULL},
    {"qosReserved", NULL, NULL},
    {"reservedMemory", "WindowsCPUAndMemoryAffinity", NULL},
    {"reservedSystemCPUs", NULL, NULL},
    {"seccompDefault", NULL, NULL},
    {"shutdownGracePeriod", "WindowsGracefulNodeShutdown", NULL},
    {"shutdownGracePeriodByPodPriority", "WindowsGracefulNodeShutdown", NULL},
    {"shutdownGracePeriodCriticalPods", "WindowsGracefulNodeShutdown", NULL},
    {"singleProcessOOMKill", NULL, NULL}, /* as defaultPodSysctls */
    {"systemCgroups", NULL, NULL},
    {"systemReservedCgroup", NULL, NULL},
    {"tlsCertFile", NULL, "/"},
    {"tlsPrivateKeyFile", NULL, "/"},
    {"topologyManagerPolicy", "WindowsCPUAndMemoryAffinity", NULL},
    {"topologyManagerPolicyOptions", "WindowsCPUAndMemoryAffinity", NULL},
    {"topologyManagerScope", "WindowsCPUAndMemoryAffinity", NULL},
    {"userNamespaces", NULL, NULL}, /* as defaultPodSysctls */
    {"volumePluginDir", NULL, "/"},
    {0},
};

/* "cgroup-driver" and "cgroupDriver": the same letters. */
static bool same_letters(const char *flag, const char *field) {
    for (; *flag; flag++)
        if (*flag != '-' && tolower((unsigned char)*flag) != tolower((unsigned char)*field++))
            return false;
    return *field == '\0';
}

bool linux_setting_is_argument(const char *name, const char *value) {
    static const struct {
        const char *name, *fits; /* a flag named otherwise than its field; what Windows needs */
    } others[] = {
        {"cgroups-per-qos", "false"}, {"enforce-node-allocatable", "none"},
        {"pod-max-pids", "-1"},       {"reserved-cpus", NULL},
        {"resolv-conf", NULL},        {"runtime-cgroups", NULL},
    };

    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        if (text_equal(name, others[i].name))
            return *value && !text_equal(value, others[i].fits);
    for (const struct linux_setting *s = linux_settings; s->field; s++)
        if (!s->gate && same_letters(name, s->field) &&
            (!s->only || text_starts_with(value, s->only)))
            return true;
    return false;
}
