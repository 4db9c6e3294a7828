/* Makes the texts of kubeadm-flags.env and instance-config.yaml. */
#include "join/kubelet/kubelet_files.h"
#include "services/version.h"

enum { NEWEST = 999, INSTANCE_CONFIG_SINCE = 34, ORDER_KEPT_SINCE = 36 };

/* Returns the minor version; a version that cannot be parsed counts as the newest. */
static unsigned minor_of(const char *version) {
    unsigned minor;

    return version && kubernetes_minor(version, "", &minor, NULL) == 0 ? minor : NEWEST;
}

/* Adds one of kubeadm's arguments, if it has a value and the user gives none of this name. */
static void add_base(const struct kubelet_flags_input *input, const char *name, const char *value,
                     struct text_list *ret) {
    size_t len = strlen(name);

    if (!value || !*value)
        return;
    for (size_t i = 0; input->extra && i < input->extra->count; i++)
        if (text_starts_with(input->extra->items[i], name) && input->extra->items[i][len] == '=')
            return;
    text_list_add_owned(ret, xasprintf("--%s=%s", name, value));
}

static int by_name_and_value(const void *a, const void *b) {
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    _cleanup_(freep) char *x_name = xstrndup(x, strcspn(x, "="));
    _cleanup_(freep) char *y_name = xstrndup(y, strcspn(y, "="));
    int order = strcmp(x_name, y_name);

    return order ? order : strcmp(x, y);
}

/* Quotes a text as Go's %q does. */
static void add_quoted_text(struct text *out, const char *s) {
    static const char named[] = "\a\b\f\n\r\t\v", letters[] = "abfnrtv";

    text_add_char(out, '"');
    for (; *s; s++) {
        const char *at = strchr(named, *s);

        if (at)
            text_addf(out, "\\%c", letters[at - named]);
        else if (*s == '"' || *s == '\\')
            text_addf(out, "\\%c", *s);
        else if ((unsigned char)*s < 0x20 || *s == 0x7f)
            text_addf(out, "\\x%02x", (unsigned char)*s);
        else
            text_add_char(out, *s);
    }
    text_add(out, "\"\n");
}

char *kubelet_flags_text(const struct kubelet_flags_input *input) {
    _cleanup_(freep) char *own = text_lower(input->host_name);
    bool other_name = !text_equal(own, input->node_name);
    const char *socket = input->cri_socket ? input->cri_socket : KUBELET_CRI_SOCKET;
    unsigned minor = minor_of(input->version);
    _cleanup_(text_list_free) struct text_list flags = {0};
    _cleanup_(freep) char *joined = NULL;
    struct text out = {0};

    /* The flags are sorted by name, as kubeadm writes them. */
    add_base(input, "container-runtime-endpoint", minor >= INSTANCE_CONFIG_SINCE ? NULL : socket,
             &flags);
    add_base(input, "hostname-override", other_name ? input->node_name : NULL, &flags);
    add_base(input, "node-ip", input->node_ip, &flags);
    add_base(input, "node-labels", input->node_labels, &flags);
    add_base(input, "register-with-taints", input->taints, &flags);
    for (size_t i = 0; input->extra && i < input->extra->count; i++)
        text_list_add_owned(&flags, xasprintf("--%s", input->extra->items[i]));
    if (minor < ORDER_KEPT_SINCE && flags.count)
        qsort(flags.items, flags.count, sizeof *flags.items, by_name_and_value);
    joined = text_list_join(&flags, " ");
    text_add(&out, "KUBELET_KUBEADM_ARGS=");
    add_quoted_text(&out, joined);
    return text_take(&out);
}

char *kubelet_instance_config_text(const char *version, const char *cri_socket) {
    struct text out = {0};

    if (minor_of(version) < INSTANCE_CONFIG_SINCE)
        return NULL;
    /* kubeadm quotes this value like %q; YAML reads the escapes in the same way. */
    text_add(&out, "containerRuntimeEndpoint: ");
    add_quoted_text(&out, cri_socket ? cri_socket : KUBELET_CRI_SOCKET);
    return text_take(&out);
}
