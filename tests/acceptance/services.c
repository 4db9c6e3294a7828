/* Services: what Windows does with one that fails, that is asked to end, and that depends on
 * another. Each row takes its services back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <windows.h>

#include "base/memory.h"
#include "host/wait.h"
#include "services/hosted_service.h"
#include "tests/acceptance/acceptance.h"

#define SERVICE "winjoin-acceptance"
#define DEPENDENT "winjoin-acceptance-2"
#define LOG "C:\\winjoin-acceptance\\hosted.log"

enum { SERVICE_MS = 30000, HOSTED_MS = 120000 };

static HANDLE asked;

static BOOL WINAPI on_break(DWORD event) {
    (void)event;
    (void)SetEvent(asked);
    return TRUE;
}

int services_hosted(void) {
    asked = CreateEventA(NULL, TRUE, FALSE, NULL);
    (void)SetConsoleCtrlHandler(on_break, TRUE);
    (void)puts("hosted: runs");
    (void)fflush(stdout);
    bool was_asked = WaitForSingleObject(asked, HOSTED_MS) == WAIT_OBJECT_0;
    (void)puts(was_asked ? "hosted: was asked to end" : "hosted: was not asked");
    (void)fflush(stdout);
    return was_asked ? 0 : 1;
}

static void recovery(struct kit *kit, const struct row *row, struct finding *f) {
    struct host_service service = {.name = (char *)(size_t)SERVICE,
                                   .display_name = (char *)(size_t)SERVICE,
                                   .description = (char *)(size_t) "winjoin: acceptance",
                                   .command = kit->winjoin,
                                   .restart_delays_ms = {1000, 5000, 30000},
                                   .restart_on_error = true,
                                   .reset_seconds = 3600};
    struct error err = {0};

    (void)row;
    if (host_service_put(kit->host, &service, &err) < 0)
        finding_fail(f, "%s", err.message);
    else
        kit_recovery(SERVICE, f);
    if (host_service_delete(kit->host, SERVICE, 10000, &err) < 0)
        finding_fail(f, "not taken back: %s", err.message);
}

static int put_hosted(struct kit *kit, const char *name, const char *depends_on,
                      struct error *err) {
    _cleanup_(freep) char *program = xasprintf("%s\\acceptance.exe", kit->folder);
    _cleanup_(freep) char *command = xasprintf("\"%s\" service run %s", kit->winjoin, name);
    _cleanup_(freep) char *path = xasprintf("%s\\%s.json", SERVICE_SETTINGS_DIR, name);
    struct service_host_settings settings = {.working_folder = kit->folder,
                                             .log_file = (char *)(size_t)LOG,
                                             .max_log_bytes = SERVICE_LOG_BYTES,
                                             .max_log_files = SERVICE_LOG_FILES,
                                             .stop_timeout_ms = 20000};
    struct host_service service = {.name = (char *)(size_t)name,
                                   .display_name = (char *)(size_t)name,
                                   .description = (char *)(size_t) "winjoin: acceptance",
                                   .command = command};
    int code;

    text_list_add(&settings.command, program);
    text_list_add(&settings.command, "--hosted");
    _cleanup_(freep) char *text = service_host_settings_make(&settings);
    if (depends_on)
        text_list_add(&service.depends_on, depends_on);
    code = host_make_folder(kit->host, "C:\\winjoin-acceptance", HOST_PUBLIC, err) < 0 ||
                   host_write(kit->host, path, text, strlen(text), HOST_SECRET, err) < 0 ||
                   host_service_put(kit->host, &service, err) < 0
               ? -1
               : 0;
    text_list_free(&settings.command);
    text_list_free(&service.depends_on);
    return code;
}

static void remove_hosted(struct kit *kit, const char *name, struct finding *f) {
    _cleanup_(freep) char *path = xasprintf("%s\\%s.json", SERVICE_SETTINGS_DIR, name);
    struct error err = {0};

    if (host_service_stop(kit->host, name, SERVICE_MS, &err) < 0 ||
        host_service_delete(kit->host, name, SERVICE_MS, &err) < 0 ||
        host_remove(kit->host, path, &err) < 0)
        finding_fail(f, "not taken back: %s", err.message);
}

/* Folders that are empty now were not there before. */
static void remove_folders(struct kit *kit, struct finding *f) {
    struct error err = {0};

    if (host_remove_tree(kit->host, "C:\\winjoin-acceptance", &err) < 0)
        finding_fail(f, "not taken back: %s", err.message);
    (void)RemoveDirectoryA(SERVICE_SETTINGS_DIR);
    (void)RemoveDirectoryA("C:\\ProgramData\\winjoin");
}

static enum wait_poll poll_log(void *context, struct wait *wait, struct error *err) {
    struct kit *kit = context;
    _cleanup_(freep) char *text = NULL;
    size_t len;

    (void)wait;
    if (host_read(kit->host, LOG, 65536, &text, &len, err) == 0 && strstr(text, "hosted: runs"))
        return POLL_DONE;
    return POLL_AGAIN;
}

static void stop(struct kit *kit, const struct row *row, struct finding *f) {
    struct wait runs = {.limit_ms = SERVICE_MS, .pause_ms = 200, .poll = poll_log, .context = kit};
    _cleanup_(freep) char *text = NULL;
    struct error err = {0};
    size_t len;

    (void)row;
    if (put_hosted(kit, SERVICE, NULL, &err) < 0 ||
        host_service_start(kit->host, SERVICE, SERVICE_MS, &err) < 0 ||
        wait_until(kit->host, &runs, &err) != POLL_DONE ||
        host_service_stop(kit->host, SERVICE, SERVICE_MS, &err) < 0 ||
        host_read(kit->host, LOG, 65536, &text, &len, &err) < 0)
        finding_fail(f, "%s", err.message);
    else if (kit->wine) /* has no Ctrl-Break */
        finding_note(f, "it ran and was ended");
    else if (!strstr(text, "hosted: was asked to end"))
        finding_fail(f, "the program says: %s", text);
    remove_hosted(kit, SERVICE, f);
    remove_folders(kit, f);
}

static void dependents(struct kit *kit, const struct row *row, struct finding *f) {
    struct host_service found = {0};
    struct error err = {0};

    (void)row;
    if (put_hosted(kit, SERVICE, NULL, &err) < 0 || put_hosted(kit, DEPENDENT, SERVICE, &err) < 0 ||
        host_service_start(kit->host, DEPENDENT, SERVICE_MS, &err) < 0 ||
        host_service_query(kit->host, SERVICE, &found, &err) < 0)
        finding_fail(f, "%s", err.message);
    else if (found.state != HOST_SERVICE_RUNNING)
        finding_fail(f, "%s does not run, on which %s depends", SERVICE, DEPENDENT);
    host_service_free(&found);
    if (host_service_stop(kit->host, SERVICE, SERVICE_MS, &err) < 0 ||
        host_service_query(kit->host, DEPENDENT, &found, &err) < 0)
        finding_fail(f, "%s", err.message);
    else if (found.state != HOST_SERVICE_STOPPED)
        finding_fail(f, "%s still runs", DEPENDENT);
    host_service_free(&found);
    remove_hosted(kit, DEPENDENT, f);
    remove_hosted(kit, SERVICE, f);
    remove_folders(kit, f);
}

const struct row service_rows[] = {
    {"service-recovery", "Windows keeps what a service does after it fails",
     "three restarts, also after an exit that is no crash", 0, recovery, NULL},
    {"service-stop", "a stopped service's program is asked to end, and ends by itself",
     "`was asked to end` in its log", 0, stop, NULL},
    {"service-dependents", "stopping a service stops those that depend on it", "both stopped",
     NEEDS_WINDOWS, dependents, NULL},
    {0},
};
