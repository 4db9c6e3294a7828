/* Has the table of services, and makes from a row the SCM's configuration and the command line. */
#include "services/service_table.h"

#include "host/command_line.h"
#include "services/rows/service_rows.h"

#define OUR_MARK "winjoin:"

#define SERVICE_LISTED(row) &service_##row,
const struct service *const service_table[] = {SERVICE_ROWS(SERVICE_LISTED) NULL};

const struct service *service_by_name(const char *name) {
    const struct service *const *row = service_table;

    while (*row && !text_equal_nocase((*row)->name, name))
        row++;
    return *row;
}

bool service_is_chosen(const struct service *row, const struct service_choice *choice) {
    switch (row->chosen_by) {
    case SERVICE_CHOSEN_BY_AGENT:
        return text_equal(choice->agent, row->name);
    case SERVICE_CHOSEN_BY_KUBE_PROXY:
        return choice->kube_proxy;
    default:
        return true;
    }
}

bool service_is_ours(const struct host_service *service) {
    return service->description && text_starts_with(service->description, OUR_MARK);
}

static void add_environment(const struct service *row, const struct service_settings *settings,
                            struct text_list *ret) {
    char *variable = row->environment ? row->environment(settings) : NULL;

    if (variable)
        text_list_add_owned(ret, variable);
    for (size_t i = 0; settings->proxy && i < settings->proxy->count; i++)
        text_list_add(ret, settings->proxy->items[i]);
}

int service_make(const struct service *row, const struct service_settings *settings,
                 struct host_service *ret, struct error *err) {
    _cleanup_(text_list_free) struct text_list arguments = {0};
    const char *winjoin = WINJOIN_PROGRAM;
    struct host_service service = {.auto_start = true,
                                   .restart_on_error = true,
                                   .reset_seconds = row->reset_seconds,
                                   .preshutdown_ms = row->preshutdown_ms};
    if (service_arguments(row, settings, &arguments, NULL, err) < 0)
        return -1;
    service.name = xstrdup(row->name);
    service.display_name = xstrdup(row->display_name);
    service.description = xstrdup(row->description);
    service.command = command_line_make(
        row->hosted ? (const char *const[]){winjoin, "service", "run", row->name, NULL}
                    : (const char *const *)arguments.items);
    for (size_t i = 0; i < ARRAY_SIZE(row->depends_on) && row->depends_on[i]; i++)
        text_list_add(&service.depends_on, row->depends_on[i]);
    if (row->needs_network && settings->agent)
        text_list_add(&service.depends_on, settings->agent);
    if (!row->hosted)
        add_environment(row, settings, &service.environment);
    for (size_t i = 0; i < ARRAY_SIZE(row->restart_delays_ms); i++)
        service.restart_delays_ms[i] = row->restart_delays_ms[i];
    *ret = service;
    return 0;
}

int service_host_file_make(const struct service *row, const struct service_settings *settings,
                           char **ret, struct error *err) {
    _cleanup_(service_host_settings_free) struct service_host_settings file = {
        .max_log_bytes = SERVICE_LOG_BYTES,
        .max_log_files = SERVICE_LOG_FILES,
        .stop_timeout_ms = row->stop_timeout_ms};
    if (service_arguments(row, settings, &file.command, NULL, err) < 0)
        return -1;
    add_environment(row, settings, &file.environment);
    file.working_folder = xstrdup("C:\\k");
    file.log_file = xstrdup(row->log_file);
    *ret = service_host_settings_make(&file);
    return 0;
}

json_t *service_json(const struct host_service *service) {
    json_t *delays = json_array();
    for (size_t i = 0; i < ARRAY_SIZE(service->restart_delays_ms); i++)
        if (service->restart_delays_ms[i])
            json_array_append_new(delays, json_integer(service->restart_delays_ms[i] / 1000));
    return json_pack("{s:s,s:s*,s:s*,s:s,s:s,s:o,s:o,s:{s:o,s:I},s:s*}", "name", service->name,
                     "displayName", service->display_name, "command", service->command, "account",
                     "LocalSystem", "start", service->auto_start ? "auto" : "demand", "dependsOn",
                     json_texts(&service->depends_on), "environment",
                     json_texts(&service->environment), "recovery", "restartDelaysSeconds", delays,
                     "resetSeconds", (json_int_t)service->reset_seconds, "description",
                     service->description);
}

/* ---- command lines: arguments of the row, and extra arguments of the user ---- */

static int check_extra(const char *argument, struct error *err) {
    static const char *const secrets[] = {"--token", "--password", "--bearer-token", "--username"};
    size_t len = strcspn(argument, "=");

    if (!text_starts_with(argument, "--") || len < 3)
        return error_set(err, ERROR_USAGE, "extra argument '%s': not of the form --name=value",
                         argument);
    for (const char *p = argument; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            return error_set(err, ERROR_USAGE,
                             "extra argument '%s': it contains a control character", argument);
    for (size_t i = 0; i < ARRAY_SIZE(secrets); i++)
        if (strlen(secrets[i]) == len && strncmp(argument, secrets[i], len) == 0)
            return error_set(err, ERROR_USAGE,
                             "extra argument '%.*s': a secret must not be on a command line",
                             (int)len, argument);
    return 0;
}

bool argument_is_given(const char *argument, const struct text_list *list, size_t from) {
    size_t len = strcspn(argument, "=");

    for (size_t i = from; i < list->count; i++)
        if (strcspn(list->items[i], "=") == len && strncmp(list->items[i], argument, len) == 0)
            return true;
    return false;
}

void argument_add(struct text_list *list, const char *flag, const char *value) {
    if (value && *value)
        text_list_add_owned(list, xasprintf("%s=%s", flag, value));
}

int service_arguments(const struct service *row, const struct service_settings *settings,
                      struct text_list *ret, struct text_list *ret_dropped, struct error *err) {
    _cleanup_(text_list_free) struct text_list own = {0}, all = {0};
    static const struct text_list none;
    const struct text_list *known = settings->known_flags;
    const struct text_list *extra =
        row->extra_args ? (const void *)((const char *)settings + row->extra_args) : &none;

    if (row->arguments(settings, &own, err) < 0)
        return error_prefix(err, "service '%s'", row->name);

    /* Add the program, its own arguments that it knows and that no extra argument replaces, and the
     * extra arguments. */
    text_list_add(&all, row->program);
    for (size_t i = 0; i < own.count; i++) {
        const char *argument = own.items[i];
        bool is_flag = text_starts_with(argument, "--");
        _cleanup_(freep) char *name =
            is_flag ? xstrndup(argument + 2, strcspn(argument, "=") - 2) : NULL;

        if (known && known->count && is_flag && !text_list_has(known, name)) {
            if (ret_dropped)
                text_list_add(ret_dropped, argument);
        } else if (!argument_is_given(argument, extra, 0)) {
            text_list_add(&all, argument);
        }
    }
    for (size_t i = 0; i < extra->count; i++) {
        if (check_extra(extra->items[i], err) < 0)
            return error_prefix(err, "service '%s'", row->name);
        text_list_add(&all, extra->items[i]);
    }
    *ret = take_struct(all);
    return 0;
}
