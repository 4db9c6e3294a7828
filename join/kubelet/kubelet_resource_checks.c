/* What a kubelet makes of thresholds of eviction, reserved resources and the size of logs. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/quantity.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "join/kubelet/kubelet_checks.h"

/* What is wrong with one value of a map; NULL when it is right. */
typedef const char *value_problem(const char *value);

/* Ends with '%': the number before it, or NAN. */
static double percentage_of(const char *value) {
    char *end;
    double number = strtod(value, &end);

    /* strtod() takes more than Go does, but no blank may stand before */
    return end != value && text_equal(end, "%") && strchr("+-.0123456789", *value) ? number : NAN;
}

static bool is_percentage(const char *value) {
    return *value && value[strlen(value) - 1] == '%';
}

static const char *threshold_problem(const char *value) {
    double part;

    if (is_percentage(value)) {
        part = percentage_of(value);
        return part >= 0 && part <= 100 ? NULL : "must be a percentage from 0% to 100%";
    }
    if (!quantity_is(value))
        return "must be a quantity like 500Mi, or a percentage";
    return quantity_is_zero(value) || quantity_is_negative(value) ? "must be more than 0" : NULL;
}

static const char *reclaim_problem(const char *value) {
    if (is_percentage(value))
        return percentage_of(value) > 0 ? NULL : "must be a percentage of more than 0%";
    if (!quantity_is(value))
        return "must be a quantity like 500Mi, or a percentage";
    return quantity_is_negative(value) ? "must not be negative" : NULL;
}

static const char *period_problem(const char *value) {
    int64_t nanoseconds;

    if (go_duration_read(value, &nanoseconds, NULL) < 0)
        return "must be a duration like 1m30s";
    return nanoseconds < 0 ? "must not be negative" : NULL;
}

static const char *reservation_problem(const char *value) {
    if (!quantity_is(value))
        return "must be a quantity like 500m or 2Gi";
    return quantity_is_negative(value) ? "must not be negative" : NULL;
}

/* The kubelet for Windows knows the names of Linux' signals, too, and finds no numbers for them;
 * those of the cluster are gone already. */
static const char *const signals[] = {"memory.available",      "allocatableMemory.available",
                                      "nodefs.available",      "nodefs.inodesFree",
                                      "imagefs.available",     "imagefs.inodesFree",
                                      "containerfs.available", "containerfs.inodesFree",
                                      "pid.available",         NULL};
static const char *const resources[] = {"cpu", "memory", "ephemeral-storage", "pid", NULL};

static const struct {
    const char *field;
    value_problem *problem;
    const char *const *names;
    const char *wanted;
} maps[] = {
    {"evictionHard", threshold_problem, signals, "is no signal of eviction"},
    {"evictionSoft", threshold_problem, signals, "is no signal of eviction"},
    {"evictionSoftGracePeriod", period_problem, signals, "is no signal of eviction"},
    {"evictionMinimumReclaim", reclaim_problem, signals, "is no signal of eviction"},
    {"kubeReserved", reservation_problem, resources,
     "cannot be reserved: only cpu, memory, ephemeral-storage and pid"},
    {"systemReserved", reservation_problem, resources,
     "cannot be reserved: only cpu, memory, ephemeral-storage and pid"},
};

static bool is_among(const char *const *names, const char *name) {
    while (*names && !text_equal(*names, name))
        names++;
    return *names != NULL;
}

static bool map_problem(const json_t *config, size_t row, char **ret_path, char **ret_wanted) {
    const char *key, *why = NULL;
    json_t *value;

    json_object_foreach(json_object_get(config, maps[row].field), key, value) {
        const char *text = json_string_value(value);

        if (!is_among(maps[row].names, key))
            why = maps[row].wanted;
        else if (text || json_is_null(value)) /* null is "" to Go */
            why = maps[row].problem(text ? text : "");
        if (why) {
            *ret_path = xasprintf("%s[%s]", maps[row].field, key);
            *ret_wanted = xstrdup(why);
            return true;
        }
    }
    return false;
}

static bool grace_problem(const json_t *config, char **ret_path, char **ret_wanted) {
    const json_t *periods = json_object_get(config, "evictionSoftGracePeriod");
    const char *key, *text;
    json_t *value;

    json_object_foreach(json_object_get(config, "evictionSoft"), key, value) {
        text = json_string_value(value);
        if (json_object_get(periods, key) || text_equal(text, "0%") || text_equal(text, "100%"))
            continue; /* such a threshold is none */
        *ret_path = xasprintf("evictionSoft[%s]", key);
        *ret_wanted = xstrdup("needs its time in evictionSoftGracePeriod");
        return true;
    }
    return false;
}

/* A whole number of bytes, in digits and a suffix. */
static bool log_size_problem(const json_t *config, char **ret_path, char **ret_wanted) {
    const char *text = json_text_at(config, "containerLogMaxSize");

    if (!text || !*text || (quantity_is(text) && !strpbrk(text, ".num")))
        return false;
    *ret_path = xstrdup("containerLogMaxSize");
    *ret_wanted = xstrdup("must be a whole quantity like 10Mi");
    return true;
}

bool kubelet_resources_problem(const json_t *config, char **ret_path, char **ret_wanted) {
    for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
        if (map_problem(config, i, ret_path, ret_wanted))
            return true;
    return grace_problem(config, ret_path, ret_wanted) ||
           log_size_problem(config, ret_path, ret_wanted);
}
