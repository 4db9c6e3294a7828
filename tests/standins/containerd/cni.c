/* containerd's side of CNI. */
#include "tests/standins/containerd/cni.h"

#include "base/memory.h"
#include "base/text.h"

#include <string.h>

enum { CONF_MAX = 1024 * 1024, PLUGIN_TIMEOUT_MS = 120000 };

int cni_load(struct host *host, const struct standin_settings *settings, json_t **ret,
             struct error *err) {
    struct text_list names = {0};
    struct error absent = {0};
    int result = 1;

    (void)host_list(host, settings->cni_conf_dir, &names, &absent); /* absent: no names */
    for (size_t i = 0; i < names.count && result == 1; i++) {
        const char *name = names.items[i];
        if (!text_ends_with(name, ".conf") && !text_ends_with(name, ".conflist") &&
            !text_ends_with(name, ".json"))
            continue;
        _cleanup_(freep) char *path = xasprintf("%s\\%s", settings->cni_conf_dir, name);
        _cleanup_(freep) char *text = NULL;
        size_t len;
        result = host_read(host, path, CONF_MAX, &text, &len, err) ||
                         json_read(text, len, path, ret, err)
                     ? -1
                     : 0;
    }
    text_list_free(&names);
    if (result == 1)
        return error_set(err, ERROR_ABSENT,
                         "cni config uninitialized: no network config found in %s",
                         settings->cni_conf_dir);
    return result;
}

/* The plugin's own configuration: name and version of the list, what its capabilities ask for. */
static json_t *plugin_conf(const json_t *list, const json_t *plugin, const struct cni_pod *pod,
                           const json_t *previous) {
    json_t *conf = json_deep_copy(plugin), *runtime = json_object();

    (void)json_object_set(conf, "name", json_object_get(list, "name")); /* no memory only */
    if (json_object_get(list, "cniVersion"))
        (void)json_object_set(conf, "cniVersion", json_object_get(list, "cniVersion"));
    if (json_bool_at(plugin, "capabilities.dns", false) && pod->dns)
        (void)json_object_set_new(runtime, "dns", json_deep_copy(pod->dns));
    if (json_bool_at(plugin, "capabilities.portMappings", false) && json_array_size(pod->ports))
        (void)json_object_set_new(runtime, "portMappings", json_deep_copy(pod->ports));
    if (json_object_size(runtime))
        (void)json_object_set(conf, "runtimeConfig", runtime);
    if (previous)
        (void)json_object_set_new(conf, "prevResult", json_deep_copy(previous));
    json_decref(runtime);
    return conf;
}

static int run_plugin(struct host *host, const struct standin_settings *settings,
                      const char *command, const struct cni_pod *pod, const json_t *conf,
                      json_t **ret, struct error *err) {
    const char *type = json_text_at(conf, "type");
    _cleanup_(freep) char *program = xasprintf("%s\\%s.exe", settings->cni_bin_dir, type);
    _cleanup_(freep) char *input = json_write(conf), *output = NULL;
    _cleanup_(freep) char *do_what = xasprintf("CNI_COMMAND=%s", command);
    _cleanup_(freep) char *id = xasprintf("CNI_CONTAINERID=%s", pod->id);
    _cleanup_(freep) char *netns = xasprintf("CNI_NETNS=%s", pod->netns);
    _cleanup_(freep) char *args = xasprintf("CNI_ARGS=%s", pod->args);
    _cleanup_(freep) char *path = xasprintf("CNI_PATH=%s", settings->cni_bin_dir);
    const char *argv[] = {program, NULL};
    const char *environment[] = {do_what, id, netns, args, path, "CNI_IFNAME=eth0", NULL};
    struct host_process process = {
        .argv = argv, .environment = environment, .input = input, .timeout_ms = PLUGIN_TIMEOUT_MS};
    int code;

    if (host_run(host, &process, &code, &output, err))
        return error_prefix(err, "plugin type=\"%s\"", type);
    if (code)
        return error_set(err, ERROR_HOST, "plugin type=\"%s\" failed (%s): %s", type, command,
                         output);
    if (ret && *output) {
        json_t *result = NULL;
        if (json_read(output, strlen(output), "the plugin's result", &result, err))
            return -1;
        json_decref(*ret);
        *ret = result;
    }
    return 0;
}

int cni_call(struct host *host, const struct standin_settings *settings, const char *command,
             const struct cni_pod *pod, json_t **ret, struct error *err) {
    _cleanup_(json_decrefp_) json_t *list = NULL, *result = NULL;

    if (cni_load(host, settings, &list, err))
        return -1;
    const json_t *plugins = json_object_get(list, "plugins");
    size_t count = plugins ? json_array_size(plugins) : 1;
    for (size_t i = 0; i < count; i++) {
        const json_t *plugin = plugins ? json_array_get(plugins, i) : list;
        _cleanup_(json_decrefp_) json_t *conf = plugin_conf(list, plugin, pod, result);
        if (run_plugin(host, settings, command, pod, conf, &result, err))
            return -1;
    }
    if (ret)
        *ret = take_ptr(result);
    return 0;
}
