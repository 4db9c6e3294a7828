/* Arguments of the kubelet: which option of winjoin means the same, and who checks the value. */
#include "join/configuration/kubelet_arguments.h"

#include <ctype.h>

#include "base/cidr.h"
#include "base/text.h"
#include "services/cri.h"

const struct linux_setting linux_settings[] = {
    {"allowedUnsafeSysctls", NULL, NULL},
    {"cgroupDriver", NULL, NULL},
    {"cgroupRoot", NULL, NULL},
    {"cpuCFSQuotaPeriod", NULL, NULL},
    {"cpuManagerPolicy", "WindowsCPUAndMemoryAffinity", NULL},
    {"cpuManagerPolicyOptions", "WindowsCPUAndMemoryAffinity", NULL},
    {"cpuManagerReconcilePeriod", "WindowsCPUAndMemoryAffinity", NULL},
    {"defaultPodSysctls", NULL, NULL}, /* Windows' kubelet refuses to start with this field */
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
    {"memoryManagerPolicy", NULL, "Static"}, /* Windows' kubelet has no policy "Static" */
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
    {"singleProcessOOMKill", NULL, NULL}, /* Windows' kubelet refuses to start with this field */
    {"systemCgroups", NULL, NULL},
    {"systemReservedCgroup", NULL, NULL},
    {"tlsCertFile", NULL, "/"},
    {"tlsPrivateKeyFile", NULL, "/"},
    {"topologyManagerPolicy", "WindowsCPUAndMemoryAffinity", NULL},
    {"topologyManagerPolicyOptions", "WindowsCPUAndMemoryAffinity", NULL},
    {"topologyManagerScope", "WindowsCPUAndMemoryAffinity", NULL},
    {"userNamespaces", NULL, NULL}, /* Windows' kubelet refuses to start with this field */
    {"volumePluginDir", NULL, "/"},
    {0},
};

/* Do the flag and the field have the same letters, as "cgroup-driver" and "cgroupDriver"? */
static bool same_letters(const char *flag, const char *field) {
    for (; *flag; flag++)
        if (*flag != '-' && tolower((unsigned char)*flag) != tolower((unsigned char)*field++))
            return false;
    return *field == '\0';
}

/* Returns the name with '-' for '_', because the kubelet takes both "node_ip" and "node-ip"
 * (WordSepNormalizeFunc of k8s.io/component-base). The caller frees it. */
static char *with_dashes(const char *name) {
    char *copy = xstrdup(name);

    for (char *c = copy; *c; c++)
        *c = *c == '_' ? '-' : *c;
    return copy;
}

bool linux_setting_is_argument(const char *given, const char *value) {
    _cleanup_(freep) char *name = with_dashes(given);
    _cleanup_(freep) char *first = xstrndup(value, strcspn(value, ","));
    struct ip ip;
    static const struct {
        /* Arguments whose name differs from their field's, and the value that Windows needs. */
        const char *name, *fits;
    } others[] = {
        {"cgroups-per-qos", "false"}, {"enforce-node-allocatable", "none"},
        {"pod-max-pids", "-1"},       {"reserved-cpus", NULL},
        {"resolv-conf", NULL},        {"runtime-cgroups", NULL},
    };

    /* A loopback or link-local address is NodeLocal DNS, which exists only on Linux nodes. */
    if (text_equal(name, "cluster-dns") && ip_parse(first, &ip, NULL) == 0 &&
        (ip_is_link_local(&ip) || ip_is_loopback(&ip)))
        return true;
    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        if (text_equal(name, others[i].name))
            return *value && !text_equal(value, others[i].fits);
    for (const struct linux_setting *s = linux_settings; s->field; s++)
        if (!s->gate && same_letters(name, s->field) &&
            (!s->only || text_starts_with(value, s->only)))
            return true;
    return false;
}

static int check_pipe(const char *value, struct error *err) {
    if (text_starts_with(value, "npipe:") && !strchr(value, '\\') && cri_socket_is_local(value))
        return 0;
    (void)error_set(err, ERROR_USAGE, "\"%.200s\" is no pipe name of Windows", value);
    return error_hint(err, "write npipe:////./pipe/containerd-containerd");
}

static const struct argument {
    /* winjoin's flag with the same meaning; NULL means that the value is only checked. */
    const char *name, *flag;
    size_t offset;
    /* The check of the value; NULL means that the value is IP addresses. */
    int (*check)(const char *value, struct error *err);
} arguments[] = {
    {"node-ip", "--node-ip", offsetof(struct join_options, node_ip), NULL},
    {"container-runtime-endpoint", "--cri-socket", offsetof(struct join_options, cri_socket),
     check_pipe},
    /* Up to Kubernetes 1.34 the kubelet had this argument. It only kept the image from the
     * kubelet's garbage collection. */
    {"pod-infra-container-image", "--sandbox-image", offsetof(struct join_options, sandbox_image),
     join_sandbox_image_check},
    {"cluster-dns", NULL, 0, NULL},
    {"node-labels", NULL, 0, node_labels_check},
    {"register-with-taints", NULL, 0, node_taints_check},
};

static const struct argument *find(const char *name) {
    for (size_t i = 0; i < ARRAY_SIZE(arguments); i++)
        if (text_equal(arguments[i].name, name))
            return &arguments[i];
    return NULL;
}

int kubelet_argument_check(const char *given, const char *value, struct error *err) {
    _cleanup_(freep) char *name = with_dashes(given);
    const struct argument *argument = find(name);
    _cleanup_(text_list_free) struct text_list list = {0};
    struct ip ip;

    if (!argument)
        return kubelet_quantities_check_argument(name, value, err);
    if (!*value)
        return 0;
    if (argument->check)
        return argument->check(value, err);
    text_list_split(&list, value, ',');
    for (size_t i = 0; i < list.count; i++)
        if (ip_parse(list.items[i], &ip, NULL) < 0)
            return error_set(err, ERROR_USAGE, "--%s \"%.60s\": not an IP address", name,
                             list.items[i]);
    return 0;
}

int node_argument_check(const char *text, struct error *err) {
    size_t len = text_starts_with(text, "--") ? strcspn(text + 2, "= \t\r\n\"") : 0;
    const char *end = text + 2 + len; /* The end of the name, when there is one. */
    _cleanup_(freep) char *name = len ? xstrndup(text + 2, len) : NULL;
    _cleanup_(freep) char *dashed = name ? with_dashes(name) : NULL;
    const struct argument *known = dashed ? find(dashed) : NULL;
    const char *value = name && *end ? end + 1 : "";

    if (!name || (*end != '=' && *end != '\0') || node_line_check(text, NULL) < 0)
        return error_set(err, ERROR_USAGE, "\"%.60s\": not an argument like --v=4", text);
    /* winjoin uses some settings itself. As an argument of the kubelet, a value would reach only
     * the kubelet. */
    if (known && known->flag)
        return error_set(err, ERROR_USAGE, "\"--%s\": give it to the join as %s", name,
                         known->flag);
    if (linux_setting_is_argument(name, value))
        return error_set(err, ERROR_USAGE, "\"--%s\": a setting of Linux nodes", name);
    return kubelet_argument_check(name, value, err) < 0 ? error_prefix(err, "--%s", name) : 0;
}

/* Returns true when the value can become winjoin's option. Two addresses, or "any address" of a
 * family, stay an argument of the kubelet, because the option cannot hold them. */
static bool is_taken(const struct argument *argument, const char *value) {
    return argument && argument->flag && *value && !strchr(value, ',') &&
           !text_equal(value, "0.0.0.0") && !text_equal(value, "::");
}

void kubelet_argument_take(const char *given, const char *value, struct join_options *options,
                           struct text_list *warnings) {
    _cleanup_(freep) char *name = with_dashes(given);
    const struct argument *argument = find(name);
    _cleanup_(freep) char *first = xstrndup(value, strcspn(value, ","));
    char **option = argument ? (char **)((char *)options + argument->offset) : NULL;

    if (linux_setting_is_argument(name, value)) {
        text_list_add_owned(warnings, xasprintf("kubeletExtraArgs: %s=%.200s is a setting of Linux "
                                                "nodes: left out on Windows",
                                                name, value));
        return;
    }
    if (text_equal(name, "root-dir") && !text_equal_nocase(value, "C:\\var\\lib\\kubelet"))
        text_list_add_owned(
            warnings, xasprintf("kubeletExtraArgs: root-dir=%.200s: pods' volumes and secrets "
                                "go there, into a folder that winjoin neither makes, guards "
                                "nor removes: let only administrators change it",
                                value));
    if (is_taken(argument, first) && !(*option && **option))
        text_set(option, xstrdup(first));
    else if (is_taken(argument, first) && !text_equal(*option, first))
        text_list_add_owned(warnings, xasprintf("kubeletExtraArgs: %s=%.200s: %s is used instead",
                                                name, value, *option));
    if (!is_taken(argument, value))
        text_list_add_owned(&options->kubelet_extra_args, xasprintf("%s=%s", name, value));
}
