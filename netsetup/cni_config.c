/* Writes and reads the CNI configuration file. */
#include "netsetup/netsetup.h"

#include "netsetup/plugins/cni_plugin.h"

enum { CNI_FILE_MAX = 1024 * 1024 };

#define CONF_NAME "10-winjoin.conf"

char *cni_config_path(const struct network_plan *plan) {
    return xasprintf("%s\\" CONF_NAME "%s", plan->cni_folder ? plan->cni_folder : CNI_CONF_DIR,
                     cni_plugin_by_name(plan->cni_plugin)->list ? "list" : "");
}

json_t *cni_config_json(const struct network_plan *plan) {
    return cni_plugin_by_name(plan->cni_plugin)->config(plan);
}

static bool is_configuration(const char *name) {
    return text_ends_with(name, ".conf") || text_ends_with(name, ".conflist") ||
           text_ends_with(name, ".json");
}

int cni_conflicts(struct host *host, const char *folder, struct text_list *ret, struct error *err) {
    _cleanup_(text_list_free) struct text_list names = {0};
    struct error list_err = {0};
    if (host_list(host, folder, &names, &list_err) < 0)
        return list_err.kind == ERROR_ABSENT ? 0 : error_pass(err, &list_err);
    for (size_t i = 0; i < names.count; i++)
        if (is_configuration(names.items[i]) && strcmp(names.items[i], CONF_NAME) < 0)
            text_list_add_owned(ret, xasprintf("%s\\%s", folder, names.items[i]));
    return 0;
}

int cni_config_read(struct host *host, const char *folder, char **ret_path, json_t **ret,
                    struct error *err) {
    _cleanup_(text_list_free) struct text_list names = {0};
    _cleanup_(freep) char *path = NULL;
    const char *lacks;
    size_t i = 0;

    if (host_list(host, folder, &names, err) < 0)
        return -1;
    while (i < names.count && !is_configuration(names.items[i]))
        i++;
    if (i == names.count)
        return error_set(err, ERROR_ABSENT, "no configuration in '%s'", folder);
    path = xasprintf("%s\\%s", folder, names.items[i]);
    if (host_read_json(host, path, CNI_FILE_MAX, ret, err) < 0)
        return -1;
    lacks = !json_text_at(*ret, "name") ? "name" : cni_config_type(*ret) ? NULL : "type";
    if (lacks) {
        json_decref(*ret);
        *ret = NULL;
        return error_set(err, ERROR_MALFORMED, "%s: not a CNI configuration: \"%s\" is missing",
                         path, lacks);
    }
    *ret_path = take_ptr(path);
    return 0;
}

const char *cni_config_type(const json_t *config) {
    json_t *first = json_at(config, "plugins.0");
    const char *type = json_text_at(first ? first : config, "delegate.type");
    return type ? type : json_text_at(first ? first : config, "type");
}
