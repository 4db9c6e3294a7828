/* Command lines of the node's programs, by version. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "services/runtime_files.h"
#include "services/service_table.h"
#include "services/version.h"

enum { KUBELET_OLDEST = 24, ANY = 999 };

/* A flag that is always given, for the minor versions that know it. */
struct flag {
    const char *text;
    unsigned first, last;
};

static const struct flag kubelet_flags[] = {
    {"--config=C:\\var\\lib\\kubelet\\config.yaml", 0, ANY},
    {"--kubeconfig=C:\\etc\\kubernetes\\kubelet.conf", 0, ANY},
    {"--cert-dir=C:\\var\\lib\\kubelet\\pki", 0, ANY},
    /* a field of the configuration file since 1.27 */
    {"--container-runtime-endpoint=npipe:////./pipe/containerd-containerd", 0, 26},
    {"--v=2", 0, ANY},
};

/* `--name` of "--name=value", with its length. */
static size_t name_length(const char *argument) {
    return strcspn(argument, "=");
}

static bool is_secret_flag(const char *argument) {
    static const char *const secrets[] = {"--token", "--password", "--bearer-token", "--username"};
    for (size_t i = 0; i < ARRAY_SIZE(secrets); i++) {
        if (strlen(secrets[i]) == name_length(argument) &&
            strncmp(argument, secrets[i], name_length(argument)) == 0)
            return true;
    }
    return false;
}

static int check_extra(const char *argument, struct error *err) {
    if (!text_starts_with(argument, "--") || name_length(argument) < 3)
        return error_set(err, ERROR_USAGE, "refuse extra argument '%s': it is no --name=value",
                         argument);
    for (const char *p = argument; *p; p++) {
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            return error_set(err, ERROR_USAGE,
                             "refuse extra argument '%s': it holds a control character", argument);
    }
    if (is_secret_flag(argument))
        return error_set(err, ERROR_USAGE,
                         "refuse extra argument '%.*s': a secret has no place on a command line",
                         (int)name_length(argument), argument);
    return 0;
}

static bool replaced(const char *argument, const struct text_list *extra) {
    for (size_t i = 0; i < extra->count; i++) {
        if (name_length(extra->items[i]) == name_length(argument) &&
            strncmp(extra->items[i], argument, name_length(argument)) == 0)
            return true;
    }
    return false;
}

/* Moves own arguments (from index 1 on) that extra ones do not replace, then the extra ones. */
static int merge_extra(const struct text_list *own, const struct text_list *extra,
                       struct text_list *ret, struct error *err) {
    for (size_t i = 0; i < extra->count; i++) {
        if (check_extra(extra->items[i], err) < 0)
            return -1;
    }
    for (size_t i = 0; i < own->count; i++) {
        if (!replaced(own->items[i], extra))
            text_list_add(ret, own->items[i]);
    }
    for (size_t i = 0; i < extra->count; i++)
        text_list_add(ret, extra->items[i]);
    return 0;
}

static void add_value(struct text_list *list, const char *flag, const char *value) {
    if (value && *value)
        text_list_add_owned(list, xasprintf("%s=%s", flag, value));
}

static void add_node_name(struct text_list *list, const char *node_name) {
    _cleanup_(freep) char *lower = text_lower(node_name ? node_name : "");
    add_value(list, "--hostname-override", lower);
}

static int kubelet_arguments(const struct service_settings *settings, struct text_list *ret,
                             struct error *err) {
    unsigned minor = 0;
    if (kubernetes_minor(settings->kubelet_version, "kubelet", &minor, err) < 0)
        return -1;
    if (minor < KUBELET_OLDEST)
        return error_set(err, ERROR_UNSUPPORTED, "refuse kubelet '%s': 1.%d is the oldest",
                         settings->kubelet_version, KUBELET_OLDEST);
    for (size_t i = 0; i < ARRAY_SIZE(kubelet_flags); i++) {
        if (minor >= kubelet_flags[i].first && minor <= kubelet_flags[i].last)
            text_list_add(ret, kubelet_flags[i].text);
    }
    if (settings->bootstrap_kubeconfig)
        add_value(ret, "--bootstrap-kubeconfig", "C:\\etc\\kubernetes\\bootstrap-kubelet.conf");
    add_node_name(ret, settings->node_name);
    add_value(ret, "--node-ip", settings->node_ip);
    add_value(ret, "--node-labels", settings->node_labels);
    add_value(ret, "--register-with-taints", settings->register_with_taints);
    add_value(ret, "--windows-priorityclass", settings->priority_class);
    return 0;
}

static int kube_proxy_arguments(const struct service_settings *settings, struct text_list *ret,
                                struct error *err) {
    unsigned minor = 0;
    if (kubernetes_minor(settings->kube_proxy_version, "kube-proxy", &minor, err) < 0)
        return -1;
    add_value(ret, "--config", KUBE_PROXY_CONFIG_PATH);
    add_node_name(ret, settings->node_name);
    text_list_add(ret, "--v=2");
    return 0;
}

static int containerd_arguments(const struct service_settings *settings, struct text_list *ret,
                                struct error *err) {
    (void)settings;
    (void)err;
    /* containerd takes "--flag value" as well as "--flag=value"; the latter keeps one flag one word
     */
    text_list_add(ret, "--config=" CONTAINERD_CONFIG_PATH);
    text_list_add(ret, "--log-file=C:\\var\\log\\containerd\\containerd.log");
    text_list_add(ret, "--run-service");
    return 0;
}

static int flanneld_arguments(const struct service_settings *settings, struct text_list *ret,
                              struct error *err) {
    (void)err;
    text_list_add(ret, "--kube-subnet-mgr");
    text_list_add(ret, "--kubeconfig-file=" FLANNELD_KUBECONFIG_PATH);
    add_value(ret, "--iface", settings->flannel_interface);
    text_list_add(ret, "--ip-masq");
    text_list_add(ret, "--net-config-path=" FLANNEL_NET_CONF_PATH);
    text_list_add(ret, "--subnet-file=" FLANNEL_SUBNET_PATH);
    return 0;
}

/* winjoin itself, from where the other programs lie. */
static int network_arguments(const struct service_settings *settings, struct text_list *ret,
                             struct error *err) {
    (void)settings;
    (void)err;
    text_list_add(ret, "service");
    text_list_add(ret, "run");
    text_list_add(ret, service_name(SERVICE_NETWORK));
    return 0;
}

typedef int maker(const struct service_settings *, struct text_list *, struct error *);
static maker *const makers[SERVICE_COUNT] = {
    [SERVICE_NETWORK] = network_arguments,       [SERVICE_CONTAINERD] = containerd_arguments,
    [SERVICE_KUBELET] = kubelet_arguments,       [SERVICE_FLANNELD] = flanneld_arguments,
    [SERVICE_KUBE_PROXY] = kube_proxy_arguments,
};

static const struct text_list *extra_of(enum service_id id,
                                        const struct service_settings *settings) {
    static const struct text_list none;
    const struct text_list *extra[SERVICE_COUNT] = {
        [SERVICE_NETWORK] = &none,
        [SERVICE_CONTAINERD] = &settings->containerd_extra_args,
        [SERVICE_KUBELET] = &settings->kubelet_extra_args,
        [SERVICE_FLANNELD] = &settings->flanneld_extra_args,
        [SERVICE_KUBE_PROXY] = &settings->kube_proxy_extra_args,
    };

    return extra[id];
}

static bool is_known(const struct service_settings *settings, const char *argument) {
    const struct text_list *known = settings->known_flags;
    _cleanup_(freep) char *name = NULL;

    if (!known || !known->count || !text_starts_with(argument, "--"))
        return true;
    name = xstrndup(argument + 2, name_length(argument) - 2);
    return text_list_has(known, name);
}

/* Our own arguments, sorted out by what the program knows. */
static int own_arguments(enum service_id id, const struct service_settings *settings,
                         struct text_list *ret_kept, struct text_list *ret_dropped,
                         struct error *err) {
    _cleanup_(text_list_free) struct text_list all = {0};

    if (makers[id](settings, &all, err) < 0)
        return -1;
    for (size_t i = 0; i < all.count; i++)
        text_list_add(is_known(settings, all.items[i]) ? ret_kept : ret_dropped, all.items[i]);
    return 0;
}

void service_dropped_arguments(enum service_id id, const struct service_settings *settings,
                               struct text_list *ret) {
    _cleanup_(text_list_free) struct text_list kept = {0};

    (void)own_arguments(id, settings, &kept, ret, NULL); /* service_arguments() will say why */
}

int service_arguments(enum service_id id, const struct service_settings *settings,
                      struct text_list *ret, struct error *err) {
    _cleanup_(text_list_free) struct text_list own = {0}, dropped = {0};
    struct text_list all = {0};

    text_list_add(&all, service_program(id));
    if (own_arguments(id, settings, &own, &dropped, err) < 0 ||
        merge_extra(&own, extra_of(id, settings), &all, err) < 0) {
        text_list_free(&all);
        return error_prefix(err, "service '%s'", service_name(id));
    }
    *ret = all;
    return 0;
}
