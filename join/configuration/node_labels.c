/* Checks the labels and taints that a kubelet gives its own Node. */
#include "join/configuration/kubelet_arguments.h"

#include "base/text.h"
#include "kube/object.h"

enum { NAME_MAX_LENGTH = 63 };

/* A name has at most 63 letters, digits, '-', '_' and '.'; its ends are letters or digits. */
static bool is_name(const char *text, size_t len) {
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        bool usual = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        bool inside = i > 0 && i + 1 < len;

        if (!usual && !(inside && (c == '-' || c == '_' || c == '.')))
            return false;
    }
    return len && len <= NAME_MAX_LENGTH;
}

bool is_qualified_name(const char *text, size_t len) {
    const char *slash = memchr(text, '/', len);
    _cleanup_(freep) char *domain = slash ? xstrndup(text, (size_t)(slash - text)) : NULL;

    if (!slash)
        return is_name(text, len);
    return kube_name_is_valid(domain) && is_name(slash + 1, len - (size_t)(slash - text) - 1);
}

static const char *const allowed_labels[] = {
    "kubernetes.io/hostname",
    "kubernetes.io/os",
    "kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/instance-type",
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
};
static const char *const allowed_namespaces[] = {"kubelet.kubernetes.io", "node.kubernetes.io"};

/* Returns true for the domain `to` and for any domain below it. */
static bool belongs(const char *namespace_, const char *to) {
    _cleanup_(freep) char *below = xasprintf(".%s", to);

    return text_equal(namespace_, to) || text_ends_with(namespace_, below);
}

static bool is_allowed(const char *key) {
    const char *slash = strchr(key, '/');
    _cleanup_(freep) char *namespace_ = slash ? xstrndup(key, (size_t)(slash - key)) : NULL;

    if (!slash || (!belongs(namespace_, "kubernetes.io") && !belongs(namespace_, "k8s.io")))
        return true;
    for (size_t i = 0; i < ARRAY_SIZE(allowed_labels); i++)
        if (text_equal(key, allowed_labels[i]))
            return true;
    for (size_t i = 0; i < ARRAY_SIZE(allowed_namespaces); i++)
        if (belongs(namespace_, allowed_namespaces[i]))
            return true;
    return false;
}

/* Removes blanks around a key or value, which the kubelet ignores, too (its ConfigurationMap). */
static size_t trimmed(const char **text, size_t len) {
    size_t before = strspn(*text, " ");

    if (before >= len)
        return 0;
    *text += before;
    len -= before;
    while (len && (*text)[len - 1] == ' ')
        len--;
    return len;
}

int node_labels_check(const char *labels, struct error *err) {
    _cleanup_(text_list_free) struct text_list list = {0};

    text_list_split(&list, labels ? labels : "", ',');
    for (size_t i = 0; i < list.count; i++) {
        const char *label = list.items[i], *key = label, *equals = strchr(label, '=');
        const char *value = equals ? equals + 1 : "";
        size_t key_len = trimmed(&key, strcspn(label, "=")),
               value_len = trimmed(&value, strlen(value));
        _cleanup_(freep) char *name = xstrndup(key, key_len);

        if (!is_qualified_name(key, key_len) || (value_len && !is_name(value, value_len)))
            return error_set(err, ERROR_USAGE,
                             "%.200s: a label is key=value; key and value are at "
                             "most 63 letters, digits, '-', '_' and '.'",
                             label);
        if (is_allowed(name))
            continue;
        (void)error_set(err, ERROR_USAGE, "%s: a node is not allowed to set this label on itself",
                        key);
        return error_hint(err, "an administrator can set it: kubectl label node <name> %s", key);
    }
    return 0;
}

/* ---- taints ---- */

enum { TAINTS_MAX = 1000 };

const char *node_taint_problem(const char *key, const char *value, const char *effect) {
    static const char *const effects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};

    if (!key || !*key)
        return "a taint needs a key";
    if (!is_qualified_name(key, strlen(key)))
        return "a taint's key is at most 63 letters, digits, '-', '_' and '.', optionally after "
               "\"domain/\"";
    if (value && *value && !is_name(value, strlen(value)))
        return "a taint's value is at most 63 letters, digits, '-', '_' and '.'";
    for (size_t i = 0; i < ARRAY_SIZE(effects); i++)
        if (text_equal(effect, effects[i]))
            return NULL;
    return "effect must be NoSchedule, PreferNoSchedule or NoExecute";
}

int node_taints_check(const char *taints, struct error *err) {
    _cleanup_(text_list_free) struct text_list list = {0}, seen = {0};

    text_list_split(&list, taints ? taints : "", ',');
    if (list.count > TAINTS_MAX)
        return error_set(err, ERROR_USAGE, "%zu taints: a node has at most %d", list.count,
                         TAINTS_MAX);
    for (size_t i = 0; i < list.count; i++) {
        const char *taint = list.items[i], *colon = strchr(taint, ':');
        const char *equals = colon ? memchr(taint, '=', (size_t)(colon - taint)) : NULL;
        const char *problem = "a taint is key=value:effect or key:effect";
        _cleanup_(freep) char *key = NULL, *value = NULL, *id = NULL;

        if (colon) {
            key = xstrndup(taint, (size_t)((equals ? equals : colon) - taint));
            value = equals ? xstrndup(equals + 1, (size_t)(colon - equals - 1)) : NULL;
            id = xasprintf("%s:%s", key, colon + 1); /* No two taints may have the same id. */
            problem = node_taint_problem(key, value, colon + 1);
        }
        if (!problem && text_list_has(&seen, id))
            problem = "two taints have the same key and effect";
        if (problem)
            return error_set(err, ERROR_USAGE, "'%.200s': %s", taint, problem);
        text_list_add(&seen, id);
    }
    return 0;
}
