/* Prepares a restart of Windows after which the join continues by itself. */
#include "join/phases/phases.h"

#include "services/hosted_service.h"
#include "services/service_table.h"

#define SETTINGS_FILE SERVICE_SETTINGS_DIR "\\" RESTART_SERVICE ".json"
#define LOG_FOLDER "C:\\var\\log\\" RESTART_SERVICE
#define SHUTDOWN "C:\\Windows\\System32\\shutdown.exe"

enum { DELETE_MS = 60000, STOP_MS = 60000, SHUTDOWN_MS = 60000 };

int restart_begin(struct join *join, const struct text_list *arguments,
                  const struct text_list *environment, struct error *err) {
    /* The service has no failure actions: after a failed join, a person must look at it. */
    const struct host_service service = {
        .name = (char *)RESTART_SERVICE,
        .display_name = (char *)"winjoin join",
        .description = (char *)"winjoin: continues the join after the restart of Windows",
        .command = (char *)WINJOIN_PROGRAM " service run " RESTART_SERVICE,
        .auto_start = true,
        .preshutdown_ms = STOP_MS,
    };
    static const char *const argv[] = {
        SHUTDOWN, "/r", "/t", "5", "/c", "winjoin: the join continues after the restart", NULL};
    const struct host_process process = {
        .argv = argv, .timeout_ms = SHUTDOWN_MS, .with_errors = true};
    struct service_host_settings settings = {.environment = *environment,
                                             .working_folder = (char *)"C:\\k",
                                             .log_file =
                                                 (char *)LOG_FOLDER "\\" RESTART_SERVICE ".log",
                                             .max_log_bytes = SERVICE_LOG_BYTES,
                                             .max_log_files = SERVICE_LOG_FILES,
                                             .stop_timeout_ms = STOP_MS};
    _cleanup_(secret_freep) char *text = NULL;
    _cleanup_(freep) char *output = NULL;
    int code = 0;

    if (artifacts_own_winjoin(join, err) < 0)
        return -1;
    text_list_add(&settings.command, WINJOIN_PROGRAM);
    for (size_t i = 0; i < arguments->count; i++)
        text_list_add(&settings.command, arguments->items[i]);
    text = service_host_settings_make(&settings);
    text_list_free(&settings.command);
    if (journal_own_folder(&join->journal, LOG_FOLDER, err) < 0 ||
        journal_file(&join->journal, SETTINGS_FILE, err) < 0 ||
        host_write(join->host, SETTINGS_FILE, text, strlen(text), HOST_SECRET, err) < 0)
        return -1;
    secret_free_text(take_ptr(text));
    if (journal_service(&join->journal, RESTART_SERVICE, err) < 0 ||
        host_service_put(join->host, &service, err) < 0)
        return -1;
    if (host_run(join->host, &process, &code, &output, err) < 0)
        return error_prefix(err, "restart Windows");
    if (code)
        return error_set(err, ERROR_HOST,
                         "restart Windows: shutdown.exe failed with exit code %d: %.200s", code,
                         output ? output : "");
    return 0;
}

int restart_end(struct host *host, struct error *err) {
    _cleanup_(host_service_free) struct host_service found = {0};
    bool ours;

    if (host_service_query(host, RESTART_SERVICE, &found, err) < 0)
        return -1;
    ours = found.state != HOST_SERVICE_ABSENT && service_is_ours(&found);
    if (host_remove(host, SETTINGS_FILE, err) < 0)
        return -1;
    return ours ? host_service_delete(host, RESTART_SERVICE, DELETE_MS, err) : 0;
}

bool restart_service_is(struct host *host, enum host_service_state state) {
    _cleanup_(host_service_free) struct host_service found = {0};

    return host_service_query(host, RESTART_SERVICE, &found, ERROR_IGNORED) == 0 &&
           found.state == state && service_is_ours(&found);
}

bool restart_is_next(struct host *host, const struct service_host_settings *started) {
    _cleanup_(service_host_settings_free) struct service_host_settings now = {0};

    return service_host_settings_load(host, RESTART_SERVICE, &now, ERROR_IGNORED) == 0 &&
           now.command.count != started->command.count;
}
