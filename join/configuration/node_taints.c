/* Checks taints before a kubelet stumbles over them. */
#include "join/configuration/node_taints.h"

#include "base/text.h"
#include "join/configuration/qualified_name.h"

enum { TAINTS_MAX = 1000 };

const char *node_taint_problem(const char *key, const char *value, const char *effect) {
    static const char *const effects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};

    if (!key || !*key)
        return "a taint needs a key";
    if (!is_qualified_name(key, strlen(key)))
        return "a taint's key is at most 63 letters, digits, '-', '_' and '.', optionally after "
               "\"domain/\"";
    if (value && !is_label_value(value, strlen(value)))
        return "a taint's value is at most 63 letters, digits, '-', '_' and '.'";
    for (size_t i = 0; i < ARRAY_SIZE(effects); i++)
        if (text_equal(effect, effects[i]))
            return NULL;
    return "effect must be NoSchedule, PreferNoSchedule or NoExecute";
}

/* One taint; `ret_id` gets what no second one may have. */
static const char *problem_of(const char *taint, char **ret_id) {
    const char *colon = strchr(taint, ':'), *equals = strchr(taint, '=');
    _cleanup_(freep) char *key = NULL, *value = NULL;

    if (equals && colon && equals > colon)
        equals = NULL;
    if (!colon)
        return "a taint is key=value:effect or key:effect";
    key = xstrndup(taint, (size_t)((equals ? equals : colon) - taint));
    value = equals ? xstrndup(equals + 1, (size_t)(colon - equals - 1)) : NULL;
    *ret_id = xasprintf("%s:%s", key, colon + 1);
    return node_taint_problem(key, value, colon + 1);
}

int node_taints_check(const char *taints, struct error *err) {
    _cleanup_(text_list_free) struct text_list list = {0}, seen = {0};

    text_list_split(&list, taints ? taints : "", ',');
    if (list.count > TAINTS_MAX)
        return error_set(err, ERROR_USAGE, "%zu taints: a node has at most %d", list.count,
                         TAINTS_MAX);
    for (size_t i = 0; i < list.count; i++) {
        _cleanup_(freep) char *id = NULL;
        const char *problem = problem_of(list.items[i], &id);

        if (!problem && text_list_has(&seen, id))
            problem = "two taints have the same key and effect";
        if (problem)
            return error_set(err, ERROR_USAGE, "'%.200s': %s", list.items[i], problem);
        text_list_add(&seen, id);
    }
    return 0;
}
