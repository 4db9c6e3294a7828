/* Values with which no kubelet for Windows starts: one table a kind of value. */
#include "join/kubelet/kubelet_checks.h"

#include <stdint.h>
#include <string.h>

#include "base/cidr.h"
#include "base/memory.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "host/path.h"
#include "join/configuration/node_taints.h"

#define SECOND INT64_C(1000000000)

struct problem {
    char **path, **wanted;
};

static bool found(const struct problem *p, const char *path, const char *wanted) {
    *p->path = xstrdup(path);
    *p->wanted = xstrdup(wanted);
    return true;
}

/* Whole numbers; 0 is often "the default". */
static const struct {
    const char *path;
    json_int_t least, most;
    const char *wanted;
} numbers[] = {
    {"containerLogMaxFiles", 2, INT32_MAX, "must be at least 2"},
    {"containerLogMaxWorkers", 1, INT32_MAX, "must be at least 1"},
    {"eventBurst", 0, INT32_MAX, "must not be negative"},
    {"eventRecordQPS", 0, INT32_MAX, "must not be negative"},
    {"healthzPort", 0, 65535, "must be a port, or 0 for none"},
    {"imageGCHighThresholdPercent", 0, 100, "must be a percentage from 0 to 100"},
    {"imageGCLowThresholdPercent", 0, 100, "must be a percentage from 0 to 100"},
    {"iptablesDropBit", 0, 31, "must be a bit from 0 to 31"},
    {"iptablesMasqueradeBit", 0, 31, "must be a bit from 0 to 31"},
    {"kubeAPIBurst", 0, INT32_MAX, "must not be negative"},
    {"kubeAPIQPS", 0, INT32_MAX, "must not be negative"},
    {"maxOpenFiles", 0, INT64_MAX, "must not be negative"},
    {"maxParallelImagePulls", 1, INT32_MAX, "must be at least 1"},
    {"maxPods", 0, INT32_MAX, "must not be negative"},
    {"nodeLeaseDurationSeconds", 0, INT32_MAX, "must not be negative"},
    {"nodeStatusMaxImages", -1, INT32_MAX, "must be -1 or more"},
    {"oomScoreAdj", -1000, 1000, "must be a number from -1000 to 1000"},
    {"podsPerCore", 0, INT32_MAX, "must not be negative"},
    {"port", 0, 65535, "must be a port, or 0 for 10250"},
    {"readOnlyPort", 0, 65535, "must be a port, or 0 for none"},
    {"registryBurst", 0, INT32_MAX, "must not be negative"},
    {"registryPullQPS", 0, INT32_MAX, "must not be negative"},
    {"tracing.samplingRatePerMillion", 0, 1000000, "must be a number from 0 to 1000000"},
};

/* Durations. */
static const struct {
    const char *path;
    int64_t least, most;
    const char *wanted;
} periods[] = {
    {"containerLogMonitorInterval", 3 * SECOND, INT64_MAX, "must be at least 3s"},
    {"cpuCFSQuotaPeriod", SECOND / 1000, SECOND, "must be a duration from 1ms to 1s"},
    {"crashLoopBackOff.maxContainerRestartPeriod", SECOND, 300 * SECOND,
     "must be a duration from 1s to 300s"},
    {"fileCheckFrequency", 0, INT64_MAX, "must not be negative"},
    {"imageMaximumGCAge", 0, INT64_MAX, "must not be negative"},
    {"imageMinimumGCAge", 0, INT64_MAX, "must not be negative"},
    {"logging.flushFrequency", 0, INT64_MAX, "must not be negative"},
    {"runtimeRequestTimeout", 0, INT64_MAX, "must not be negative"},
    {"syncFrequency", 0, INT64_MAX, "must not be negative"},
};

/* Texts of which there are only some; "" is the default everywhere. */
static const struct {
    const char *path;
    const char *choices[5];
    const char *wanted;
} choices[] = {
    {"authorization.mode", {"AlwaysAllow", "Webhook"}, "must be Webhook or AlwaysAllow"},
    {"configMapAndSecretChangeDetectionStrategy",
     {"Get", "Cache", "Watch"},
     "must be Get, Cache or Watch"},
    {"cpuManagerPolicy", {"none", "static"}, "must be none or static"},
    {"hairpinMode",
     {"none", "hairpin-veth", "promiscuous-bridge"},
     "must be none, hairpin-veth or promiscuous-bridge"},
    {"imagePullCredentialsVerificationPolicy",
     {"NeverVerify", "NeverVerifyPreloadedImages", "NeverVerifyAllowlistedImages", "AlwaysVerify"},
     "must be NeverVerify, NeverVerifyPreloadedImages, NeverVerifyAllowlistedImages or "
     "AlwaysVerify"},
    {"logging.format", {"text", "json"}, "must be text or json"},
    {"memoryManagerPolicy", {"None", "BestEffort"}, "must be None or BestEffort on Windows"},
    {"memoryReservationPolicy", {"None", "TieredReservation"}, "must be None or TieredReservation"},
    {"memorySwap.swapBehavior", {"NoSwap", "LimitedSwap"}, "must be NoSwap or LimitedSwap"},
    {"tlsMinVersion",
     {"VersionTLS10", "VersionTLS11", "VersionTLS12", "VersionTLS13"},
     "must be VersionTLS10, VersionTLS11, VersionTLS12 or VersionTLS13"},
    {"topologyManagerPolicy",
     {"none", "best-effort", "restricted", "single-numa-node"},
     "must be none, best-effort, restricted or single-numa-node"},
    {"topologyManagerScope", {"container", "pod"}, "must be container or pod"},
};

/* Fields with which the kubelet for Windows does not start whatever they hold; the cluster's are
 * taken away, so that only a patch brings them. */
static const char *const fatal[] = {"singleProcessOOMKill", "userNamespaces"};

static bool numbers_problem(const json_t *config, const struct problem *p) {
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
        const json_t *value = json_at(config, numbers[i].path);

        if (json_is_integer(value) && (json_integer_value(value) < numbers[i].least ||
                                       json_integer_value(value) > numbers[i].most))
            return found(p, numbers[i].path, numbers[i].wanted);
    }
    return false;
}

/* A field's nanoseconds, also where they are written as such; `fallback` where there is none. */
static int64_t period_at(const json_t *config, const char *path, int64_t fallback) {
    const json_t *value = json_at(config, path);
    int64_t nanoseconds;

    if (json_is_integer(value))
        return json_integer_value(value);
    if (!json_is_string(value) ||
        go_duration_read(json_string_value(value), &nanoseconds, NULL) < 0)
        return fallback;
    return nanoseconds;
}

static bool periods_problem(const json_t *config, const struct problem *p) {
    for (size_t i = 0; i < ARRAY_SIZE(periods); i++) {
        int64_t period = period_at(config, periods[i].path, periods[i].least);

        if (period < periods[i].least || period > periods[i].most)
            return found(p, periods[i].path, periods[i].wanted);
    }
    return false;
}

static bool choices_problem(const json_t *config, const struct problem *p) {
    for (size_t i = 0; i < ARRAY_SIZE(choices); i++) {
        const char *text = json_text_at(config, choices[i].path);
        bool known = !text || !*text;

        for (size_t k = 0; k < ARRAY_SIZE(choices[i].choices) && !known; k++)
            known = text_equal(text, choices[i].choices[k]);
        if (!known)
            return found(p, choices[i].path, choices[i].wanted);
    }
    return false;
}

static bool fatal_problem(const json_t *config, const struct problem *p) {
    const json_t *sysctls = json_object_get(config, "defaultPodSysctls");

    for (size_t i = 0; i < ARRAY_SIZE(fatal); i++) {
        const json_t *value = json_object_get(config, fatal[i]);

        if (value && !json_is_null(value))
            return found(p, fatal[i], "must not be set on Windows");
    }
    if (json_object_size(sysctls))
        return found(p, "defaultPodSysctls", "must not be set on Windows");
    if (json_is_true(json_object_get(config, "runOnce")))
        return found(p, "runOnce", "must not be true: the kubelet is to stay");
    return false;
}

/* Two fields that must fit each other; the defaults are the kubelet's. */
static bool pairs_problem(const json_t *config, const struct problem *p) {
    int64_t grace = period_at(config, "shutdownGracePeriod", 0);
    int64_t critical = period_at(config, "shutdownGracePeriodCriticalPods", 0);
    int64_t oldest = period_at(config, "imageMaximumGCAge", 0);
    int64_t youngest = period_at(config, "imageMinimumGCAge", 0);

    if (json_number_at(config, "imageGCLowThresholdPercent", 80) >=
        json_number_at(config, "imageGCHighThresholdPercent", 85))
        return found(p,
                     json_object_get(config, "imageGCLowThresholdPercent")
                         ? "imageGCLowThresholdPercent"
                         : "imageGCHighThresholdPercent",
                     "must leave imageGCLowThresholdPercent (80 by default) below "
                     "imageGCHighThresholdPercent (85 by default)");
    if (oldest && oldest <= (youngest ? youngest : 120 * SECOND))
        return found(p, "imageMaximumGCAge", "must be more than imageMinimumGCAge (2m by default)");
    if (critical > grace)
        return found(p, "shutdownGracePeriodCriticalPods",
                     "must not be more than shutdownGracePeriod");
    if (grace < 0 || (grace > 0 && grace < SECOND))
        return found(p, "shutdownGracePeriod", "must be 0s or at least 1s");
    if (critical < 0 || (critical > 0 && critical < SECOND))
        return found(p, "shutdownGracePeriodCriticalPods", "must be 0s or at least 1s");
    if (grace && json_array_size(json_object_get(config, "shutdownGracePeriodByPodPriority")))
        return found(p, "shutdownGracePeriodByPodPriority",
                     "must not stand beside shutdownGracePeriod");
    if (json_is_true(json_object_get(config, "serializeImagePulls")) &&
        json_number_at(config, "maxParallelImagePulls", 1) > 1)
        return found(p, "maxParallelImagePulls",
                     "must not be more than 1 while serializeImagePulls is true");
    if (json_is_true(json_object_get(config, "enableSystemLogQuery")) &&
        json_is_false(json_object_get(config, "enableSystemLogHandler")))
        return found(p, "enableSystemLogQuery", "needs enableSystemLogHandler");
    return false;
}

/* Go's HTTP/2 server wants one of two suites where TLS 1.2 is spoken. */
static bool cipher_problem(const json_t *config, const struct problem *p) {
    const json_t *suites = json_object_get(config, "tlsCipherSuites"), *suite;
    bool enough = !json_array_size(suites) ||
                  text_equal(json_text_at(config, "tlsMinVersion"), "VersionTLS13");
    size_t i;

    json_array_foreach((json_t *)suites, i, suite) {
        const char *name = json_string_value(suite);

        enough |= text_equal(name, "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256") ||
                  text_equal(name, "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256");
    }
    return !enough && found(p, "tlsCipherSuites",
                            "must have TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 or "
                            "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, without which the kubelet's "
                            "server does not start");
}

/* One without effect, or there twice, starts the kubelet; but no API server takes such a Node. */
static bool taints_problem(const json_t *config, const struct problem *p) {
    _cleanup_(text_list_free) struct text_list seen = {0};
    const json_t *taint;
    size_t i;

    json_array_foreach(json_object_get(config, "registerWithTaints"), i, taint) {
        _cleanup_(freep) char *path = xasprintf("registerWithTaints[%zu]", i), *id = NULL;
        const char *key = json_text_at(taint, "key"), *effect = json_text_at(taint, "effect");
        const char *why = node_taint_problem(key, json_text_at(taint, "value"), effect);

        if (why)
            return found(p, path, why);
        if (json_is_string(json_object_get(taint, "timeAdded")))
            return found(p, path, "must not have timeAdded");
        id = xasprintf("%s:%s", key, effect);
        if (text_list_has(&seen, id))
            return found(p, path, "has the key and the effect of another");
        text_list_add(&seen, id);
    }
    return false;
}

static bool address_problem(const json_t *config, const struct problem *p) {
    const char *text = json_text_at(config, "address");
    struct ip ip;

    return text && *text && ip_parse(text, &ip, NULL) < 0 &&
           found(p, "address", "must be an IP address");
}

/* Relative ones are joined to the kubelet's own folder, and clean then. */
static bool logs_problem(const json_t *config, const struct problem *p) {
    const char *text = json_text_at(config, "podLogsDir");
    _cleanup_(freep) char *clean = NULL;

    if (!text || !*text)
        return false;
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c > 0x7f)
            return found(p, "podLogsDir", "must be ASCII");
    if (text[1] != ':')
        return false;
    if (path_normalize(text, &clean, NULL) < 0)
        return found(p, "podLogsDir", "must be a path without '..'");
    return strlen(clean) != strlen(text) &&
           found(p, "podLogsDir", "must be a path without doubled or trailing slashes");
}

static bool endpoint_problem(const json_t *config, const struct problem *p) {
    const char *text = json_text_at(config, "imageServiceEndpoint");

    return text && *text && !text_starts_with(text, "npipe:") && !text_starts_with(text, "tcp:") &&
           !text_starts_with(text, "\\\\.\\") && !text_starts_with(text, "//./") &&
           found(p, "imageServiceEndpoint", "must be a pipe like npipe:////./pipe/NAME");
}

bool kubelet_config_problem(const json_t *config, char **ret_path, char **ret_wanted) {
    const struct problem p = {ret_path, ret_wanted};

    return numbers_problem(config, &p) || periods_problem(config, &p) ||
           choices_problem(config, &p) || fatal_problem(config, &p) || pairs_problem(config, &p) ||
           cipher_problem(config, &p) || taints_problem(config, &p) ||
           address_problem(config, &p) || logs_problem(config, &p) ||
           endpoint_problem(config, &p) || kubelet_resources_problem(config, ret_path, ret_wanted);
}
