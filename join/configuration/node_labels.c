/* Which labels of the kubernetes.io name spaces a kubelet may set. */
#include "join/configuration/node_labels.h"

#include "base/text.h"
#include "join/configuration/qualified_name.h"

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

/* The name space itself or one below it. */
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

/* Blanks around key and value do not count (the kubelet's ConfigurationMap). */
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

static int check_label(const char *label, struct error *err) {
    const char *key = label, *equals = strchr(label, '='), *value = equals ? equals + 1 : "";
    size_t key_len = trimmed(&key, strcspn(label, "=")), value_len = trimmed(&value, strlen(value));
    _cleanup_(freep) char *name = xstrndup(key, key_len);

    if (!is_qualified_name(key, key_len) || !is_label_value(value, value_len))
        return error_set(err, ERROR_USAGE,
                         "%.200s: a label is key=value; key and value are at "
                         "most 63 letters, digits, '-', '_' and '.'",
                         label);
    if (is_allowed(name))
        return 0;
    (void)error_set(err, ERROR_USAGE, "%s: a node is not allowed to set this label on itself", key);
    return error_hint(err, "an administrator can set it: kubectl label node <name> %s", key);
}

int node_labels_check(const char *labels, struct error *err) {
    _cleanup_(text_list_free) struct text_list list = {0};

    text_list_split(&list, labels ? labels : "", ',');
    for (size_t i = 0; i < list.count; i++)
        if (check_label(list.items[i], err) < 0)
            return -1;
    return 0;
}
