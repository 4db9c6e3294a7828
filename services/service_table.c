/* The table of services, and how a row becomes the SCM's configuration. */
#include "services/service_table.h"

#include "host/command_line.h"

#define OUR_MARK "winjoin:"

#define SERVICE_LISTED(row) &service_##row,
const struct service *const service_table[] = {SERVICE_ROWS(SERVICE_LISTED) NULL};

const struct service *service_by_name(const char *name) {
    const struct service *const *row = service_table;

    while (*row && !text_equal_nocase((*row)->name, name))
        row++;
    return *row;
}

bool service_wanted(const struct service *row, const struct service_choice *choice) {
    return !row->wanted || row->wanted(choice);
}

unsigned service_restart_delay_ms(const struct service *row, unsigned end) {
    size_t last = ARRAY_SIZE(row->restart_delays_ms) - 1;

    return row->restart_delays_ms[end && end - 1 < last ? end - 1 : last];
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

static char *host_command(const struct service *row) {
    const char *program = WINJOIN_PROGRAM;

    return command_line_make((const char *const[]){program, "service", "run", row->name, NULL});
}

int service_make(const struct service *row, const struct service_settings *settings,
                 struct host_service *ret, struct error *err) {
    _cleanup_(text_list_free) struct text_list arguments = {0};
    struct host_service service = {.auto_start = true,
                                   .restart_on_error = true,
                                   .reset_seconds = row->reset_seconds,
                                   .preshutdown_ms = row->preshutdown_ms};
    if (service_arguments(row, settings, &arguments, err) < 0)
        return -1;
    service.name = xstrdup(row->name);
    service.display_name = xstrdup(row->display_name);
    service.description = xstrdup(row->description);
    service.command =
        row->hosted ? host_command(row) : command_line_make((const char *const *)arguments.items);
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
    if (service_arguments(row, settings, &file.command, err) < 0)
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
