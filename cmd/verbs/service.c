/* winjoin service run NAME: is what the SCM starts for a service of winjoin. It hosts a console
 * program and rotates its log, or runs winjoin's own network keeper. */
#include "base/rfc3339.h"
#include "cmd/program.h"
#include "diag/network_report.h"
#include "host/service_host.h"
#include "join/phases/phases.h"
#include "netsetup/nic/nic.h"
#include "node/keeper/network_keeper.h"
#include "services/hosted_service.h"
#include "services/service_status.h"
#include "services/service_table.h"

/* The log file of a hosted program. The program's output goes nowhere else. */
struct service_log {
    struct host *host;
    const char *name; /* The name of the service. */
    const struct service_host_settings *settings;
    FILE *file;
    uint64_t written;
    bool asked; /* The SCM stopped the service, so it did not end by itself. */
};

/* Opens the log file. If an untrusted user could have made the file, the output is lost instead. */
static void open_log(struct service_log *log) {
    log->file = NULL;
    if (host_refuse_untrusted(log->host, log->settings->log_file, ERROR_IGNORED) < 0)
        return;
    log->file = fopen(log->settings->log_file, "ab");
    if (log->file && fseek(log->file, 0, SEEK_END) == 0)
        log->written = (uint64_t)ftell(log->file);
}

static void on_output(void *context, const char *data, size_t len) {
    struct service_log *log = context;

    if (log->written + len > log->settings->max_log_bytes) {
        if (log->file)
            /* Lines that the old log could not write are lost in any case. */
            (void)fclose(log->file);
        (void)service_log_rotate(log->host, log->settings,
                                 /* If the rotation fails, the log goes on in the same file. */
                                 ERROR_IGNORED);
        log->written = 0;
        open_log(log);
    }
    if (!log->file)
        return;
    log->written += fwrite(data, 1, len, log->file);
    /* The result is not checked, because a full disk must not stop the service. */
    (void)fflush(log->file);
}

static void on_end(void *context, bool asked, unsigned exit_code) {
    struct service_log *log = context;

    log->asked = asked;
    service_life_end(log->host, log->name, asked, exit_code);
}

/* ---- the service winjoin-network ---- */

static void on_event(void *context, char level, const char *text) {
    struct service_log *log = context;
    _cleanup_(freep) char *line = NULL;

    line = xasprintf("%s %-5s %s: %s\n", RFC3339_TEXT(host_now(log->host)),
                     level == 'e' ? "ERROR" : "WARN", log->name, text);
    on_output(log, line, strlen(line));
    (void)host_event(log->host, level,
                     EVENT_ID_BASE + (level == 'e' ? (unsigned)error_exit_code(ERROR_HOST) : 0),
                     text, ERROR_IGNORED);
}

static int begin_network(void *context, struct error *err) {
    const struct network_keeper *keeper = context;

    service_life_begin(keeper->host, service_network.name);
    return network_keeper_begin(context, err);
}

static int keep_network(void *context, struct error *err) {
    struct network_keeper *keeper = context;
    int result = network_keeper_run(keeper, err);

    service_life_end(keeper->host, service_network.name, result == 0, result < 0);
    return result;
}

static int run_network(struct program *program, const char *name, struct error *err) {
    struct service_host_settings settings = {.log_file = xstrdup(service_network.log_file),
                                             .max_log_bytes = SERVICE_LOG_BYTES,
                                             .max_log_files = SERVICE_LOG_FILES};
    struct service_log log = {.host = program->host, .name = name, .settings = &settings};
    struct network_publisher publisher = {.host = program->host, .http = program->http};
    struct network_keeper keeper = {.host = program->host,
                                    .http = program->http,
                                    .tell = on_event,
                                    .on_check = network_publisher_on_check,
                                    .others = network_publisher_watches,
                                    .context = &log,
                                    .check_context = &publisher};
    const struct service_work work = {
        .begin = begin_network, .go_on = keep_network, .context = &keeper};
    int result;

    open_log(&log);
    result = service_host_run(name, NULL, &work, err);
    if (log.file)
        /* A failure to close the log does not matter, since the service has ended. */
        (void)fclose(log.file);
    network_keeper_free(&keeper);
    node_events_free(&publisher.events);
    drift_follow_free(&publisher.follow);
    service_host_settings_free(&settings);
    return result;
}

int verb_service(struct program *program, struct error *err) {
    const char *name = program->words.count == 2 ? program->words.items[1] : NULL;
    _cleanup_(service_host_settings_free) struct service_host_settings settings = {0};
    struct service_log log = {.host = program->host, .name = name, .settings = &settings};
    struct service_program hosted = {.on_output = on_output, .on_end = on_end, .context = &log};
    const struct service *row;
    int result;

    if (!name || !text_equal(program->words.items[0], "run"))
        return error_set(err, ERROR_USAGE, "winjoin service run NAME");
    row = service_by_name(name);
    if (row && !row->artifact)
        return run_network(program, row->name, err);

    if (service_host_settings_load(program->host, name, &settings, err) < 0)
        return -1;
    if (host_refuse_untrusted(program->host, settings.command.items[0], err) < 0)
        return error_prefix(err, "service '%s'", name);
    open_log(&log);
    service_life_begin(program->host, name);
    hosted.argv = (const char *const *)settings.command.items;
    hosted.environment = (const char *const *)settings.environment.items;
    hosted.working_folder = settings.working_folder;
    hosted.stop_timeout_ms = settings.stop_timeout_ms;
    result = service_host_run(name, &hosted, NULL, err);
    if (log.file)
        /* A failure to close the log does not matter, since the service has ended. */
        (void)fclose(log.file);
    /* The service that continues a join after a restart has ended, successfully or not, so it is
     * removed. If it was stopped, it runs again at Windows' next start. */
    if (text_equal(name, RESTART_SERVICE) && !log.asked && result == 0 &&
        !restart_is_next(program->host, &settings))
        result = restart_end(program->host, err);
    return result;
}

/* ---- winjoin adapter-watchdog: a process that a join or reset starts. It restores the network
 * adapter when that winjoin dies while it makes or removes a virtual switch ---- */

enum { EVENT_ID = 1001 };

int verb_watchdog(struct program *program, struct error *err) {
    bool restored = false;
    struct error why = {0};
    int result = nic_watchdog_run(program->host, &restored, err);

    if (result < 0)
        (void)host_event(program->host, 'e', EVENT_ID, err->message,
                         /* Nobody reads this process's output, so the event log gets the error. */
                         &why);
    else if (restored)
        (void)host_event(program->host, 'w', EVENT_ID,
                         "winjoin ended while the virtual switch was made or removed: the network "
                         "adapter's addresses, DNS servers and routes were restored",
                         &why);
    return result;
}
