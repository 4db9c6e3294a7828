/* Starts, stops, deletes, queries and lists services with the Service Control Manager (SCM), and
 * waits for the results. */
#include "host/win32/win32.h"

#include <tlhelp32.h>

enum { EXIT_MS = 10000, POLL_MS = 100 };

void win32_close_service(SC_HANDLE *handle) {
    if (*handle)
        CloseServiceHandle(*handle);
}

int win32_open_manager(DWORD access, SC_HANDLE *ret, struct error *err) {
    *ret = OpenSCManagerW(NULL, NULL, access);
    return *ret ? 0 : win32_fail(err, GetLastError(), "open the service control manager");
}

/* Opens a service. When it is absent, *ret is NULL and the result is 0. */
static int open_service(const char *name, DWORD access, SC_HANDLE *ret, struct error *err) {
    _cleanup_service_ SC_HANDLE manager = NULL;
    _cleanup_wide_ wchar_t *wide = win32_wide(name);

    if (win32_open_manager(SC_MANAGER_CONNECT, &manager, err) < 0)
        return -1;
    *ret = OpenServiceW(manager, wide, access);
    if (!*ret && GetLastError() != ERROR_SERVICE_DOES_NOT_EXIST)
        return win32_fail(err, GetLastError(), "open service '%s'", name);
    return 0;
}

static int query_status(SC_HANDLE service, const char *name, SERVICE_STATUS_PROCESS *ret,
                        struct error *err) {
    DWORD needed;

    if (!QueryServiceStatusEx(service, SC_STATUS_PROCESS_INFO, (BYTE *)ret, sizeof *ret, &needed))
        return win32_fail(err, GetLastError(), "query service '%s'", name);
    return 0;
}

/* Reads the start time of a process. False when the process has ended. */
static bool start_of(DWORD process_id, FILETIME *ret) {
    HANDLE process = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, process_id);
    FILETIME rest[3];
    bool found = process && GetProcessTimes(process, ret, &rest[0], &rest[1], &rest[2]);

    if (process)
        CloseHandle(process);
    return found;
}

int win32_service_query(struct host *, const char *name, struct host_service *ret,
                        struct error *err) {
    static const enum host_service_state states[] = {
        [SERVICE_STOPPED] = HOST_SERVICE_STOPPED,
        [SERVICE_START_PENDING] = HOST_SERVICE_STARTING,
        [SERVICE_STOP_PENDING] = HOST_SERVICE_STOPPING,
        [SERVICE_RUNNING] = HOST_SERVICE_RUNNING,
        /* SERVICE_CONTINUE_PENDING means that the service will be running soon. */
        [SERVICE_CONTINUE_PENDING] = HOST_SERVICE_RUNNING,
        [SERVICE_PAUSE_PENDING] = HOST_SERVICE_PAUSED,
        [SERVICE_PAUSED] = HOST_SERVICE_PAUSED,
    };
    _cleanup_service_ SC_HANDLE service = NULL;
    _cleanup_(host_service_free) struct host_service found = {0};
    SERVICE_STATUS_PROCESS status = {0};
    FILETIME started;

    if (open_service(name, SERVICE_QUERY_STATUS | SERVICE_QUERY_CONFIG, &service, err) < 0)
        return -1;
    if (service && (query_status(service, name, &status, err) < 0 ||
                    win32_service_config(service, name, &found, err) < 0))
        return -1;
    found.name = xstrdup(name);
    if (service) {
        found.state = status.dwCurrentState < ARRAY_SIZE(states) ? states[status.dwCurrentState]
                                                                 : HOST_SERVICE_RUNNING;
        found.process_id = status.dwProcessId;
        if (status.dwProcessId && start_of(status.dwProcessId, &started))
            found.started = win32_seconds(&started);
        found.exit_code = status.dwWin32ExitCode == ERROR_SERVICE_SPECIFIC_ERROR
                              ? status.dwServiceSpecificExitCode
                              : status.dwWin32ExitCode;
    }
    *ret = take_struct(found);
    return 0;
}

/* Waits until the service is in the wanted state. One that stops while it should start has
 * failed. */
static int wait_for_state(struct host *host, SC_HANDLE service, const char *name, DWORD wanted,
                          unsigned timeout_ms, struct error *err) {
    uint64_t end = GetTickCount64() + timeout_ms;
    const char *verb = wanted == SERVICE_RUNNING ? "start" : "stop";
    SERVICE_STATUS_PROCESS status = {0};

    for (;;) {
        if (query_status(service, name, &status, err) < 0)
            return -1;
        if (status.dwCurrentState == wanted)
            return 0;
        if (wanted == SERVICE_RUNNING && status.dwCurrentState == SERVICE_STOPPED)
            return error_set_os(err, ERROR_HOST, status.dwWin32ExitCode,
                                "start service '%s': it ended immediately", name);
        if (GetTickCount64() >= end)
            return error_set(err, ERROR_TIMED_OUT, "%s service '%s': not finished after %u ms",
                             verb, name, timeout_ms);
        if (host_sleep(host, POLL_MS, err) < 0)
            return error_prefix(err, "%s service '%s'", verb, name);
    }
}

int win32_service_start(struct host *host, const char *name, unsigned timeout_ms,
                        struct error *err) {
    _cleanup_service_ SC_HANDLE service = NULL;
    SERVICE_STATUS_PROCESS status = {0};

    if (open_service(name, SERVICE_QUERY_STATUS | SERVICE_START, &service, err) < 0)
        return -1;
    if (!service)
        return error_set_os(err, ERROR_ABSENT, ERROR_SERVICE_DOES_NOT_EXIST,
                            "start service '%s': it is absent", name);
    if (query_status(service, name, &status, err) < 0)
        return -1;
    if (status.dwCurrentState == SERVICE_STOP_PENDING &&
        wait_for_state(host, service, name, SERVICE_STOPPED, timeout_ms, err) < 0)
        return -1;
    /* Retry while the SCM's database is locked: it is locked while the SCM starts services, for
     * example at boot. */
    for (unsigned waited = 0; !StartServiceW(service, 0, NULL); waited += POLL_MS) {
        DWORD code = GetLastError();

        if (code == ERROR_SERVICE_ALREADY_RUNNING)
            break;
        if (code != ERROR_SERVICE_DATABASE_LOCKED || waited >= timeout_ms)
            return win32_fail(err, code, "start service '%s'", name);
        if (host_sleep(host, POLL_MS, err) < 0)
            return error_prefix(err, "start service '%s'", name);
    }
    return wait_for_state(host, service, name, SERVICE_RUNNING, timeout_ms, err);
}

/* Requests a stop. Returns 0 when the service was asked to stop or has stopped, 1 when it is still
 * starting and cannot be asked yet. */
static int tell_to_stop(SC_HANDLE service, const char *name, HANDLE *ret_process,
                        struct error *err) {
    SERVICE_STATUS_PROCESS now = {0};
    SERVICE_STATUS status;
    DWORD code;

    if (query_status(service, name, &now, err) < 0)
        return -1;
    if (now.dwCurrentState == SERVICE_STOPPED)
        return 0;
    /* Open the process too: a service can report "stopped" while its process still runs and uses
     * the program file. A process shared by several services does not end. */
    if (now.dwServiceType & SERVICE_WIN32_OWN_PROCESS && now.dwProcessId)
        *ret_process = OpenProcess(SYNCHRONIZE, FALSE, now.dwProcessId);
    if (now.dwCurrentState == SERVICE_STOP_PENDING ||
        ControlService(service, SERVICE_CONTROL_STOP, &status))
        return 0;
    code = GetLastError();
    if (*ret_process)
        CloseHandle(*ret_process);
    *ret_process = NULL;
    if (code == ERROR_SERVICE_NOT_ACTIVE)
        return 0;
    if (code == ERROR_SERVICE_CANNOT_ACCEPT_CTRL ||
        (code == ERROR_INVALID_SERVICE_CONTROL && now.dwCurrentState == SERVICE_START_PENDING))
        return 1;
    return win32_fail(err, code, "stop service '%s'", name);
}

int win32_service_stop(struct host *host, const char *name, unsigned timeout_ms,
                       struct error *err) {
    uint64_t end = GetTickCount64() + timeout_ms;
    _cleanup_(freep) ENUM_SERVICE_STATUSW *dependents = NULL;
    _cleanup_service_ SC_HANDLE service = NULL;
    DWORD size = 0, count = 0;
    HANDLE process = NULL;
    int result;

    if (open_service(name, SERVICE_QUERY_STATUS | SERVICE_STOP | SERVICE_ENUMERATE_DEPENDENTS,
                     &service, err) < 0)
        return -1;
    if (!service)
        return 0;
    /* Stop running dependent services first: the SCM refuses to stop a service that others need. */
    (void)EnumDependentServicesW(service, SERVICE_ACTIVE, NULL, 0, &size, &count);
    dependents = xcalloc(1, size);
    if (!size || !EnumDependentServicesW(service, SERVICE_ACTIVE, dependents, size, &size, &count))
        /* When the list of dependents cannot be read, the stop below is refused, and its error
         * explains the reason. */
        count = 0;
    for (DWORD i = 0; i < count; i++) {
        _cleanup_(freep) char *dependent = win32_narrow(dependents[i].lpServiceName);

        if (win32_service_stop(host, dependent, timeout_ms, err) < 0)
            return -1;
    }
    while ((result = tell_to_stop(service, name, &process, err)) == 1) {
        if (GetTickCount64() >= end)
            return error_set(err, ERROR_TIMED_OUT, "stop service '%s': still starting after %u ms",
                             name, timeout_ms);
        if (host_sleep(host, POLL_MS, err) < 0)
            return error_prefix(err, "stop service '%s'", name);
    }
    if (result == 0)
        result = wait_for_state(host, service, name, SERVICE_STOPPED, timeout_ms, err);
    if (process && result == 0)
        /* Wait for the end of the process, because its files are in use until then. */
        (void)WaitForSingleObject(process, EXIT_MS);
    if (process)
        CloseHandle(process);
    return result;
}

int win32_service_delete(struct host *host, const char *name, unsigned timeout_ms,
                         struct error *err) {
    uint64_t end = GetTickCount64() + timeout_ms;
    SC_HANDLE service = NULL;

    if (win32_service_stop(host, name, timeout_ms, err) < 0)
        return error_prefix(err, "delete service '%s'", name);
    for (;;) {
        BOOL deleted;
        DWORD code;

        if (open_service(name, DELETE, &service, err) < 0)
            return -1;
        if (!service)
            return 0;
        deleted = DeleteService(service);
        code = GetLastError();
        /* The SCM keeps a deleted service until all handles are closed. */
        CloseServiceHandle(service);
        if (!deleted && code != ERROR_SERVICE_MARKED_FOR_DELETE)
            return win32_fail(err, code, "delete service '%s'", name);
        if (GetTickCount64() >= end)
            return error_set_os(err, ERROR_TIMED_OUT, ERROR_SERVICE_MARKED_FOR_DELETE,
                                "delete service '%s': another program still uses it (for example "
                                "an open services.msc)",
                                name);
        if (host_sleep(host, POLL_MS, err) < 0)
            return error_prefix(err, "delete service '%s'", name);
    }
}

/* ---- finding out whether a process belongs to a service ---- */

/* Returns the running parent of a process, or 0. Windows reuses process numbers, so a "parent" that
 * is younger than the process is another program. */
static DWORD parent_of(DWORD process) {
    HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
    PROCESSENTRY32W entry = {.dwSize = sizeof entry};
    FILETIME first, second;
    DWORD parent = 0;

    for (BOOL more = all != INVALID_HANDLE_VALUE && Process32FirstW(all, &entry); more && !parent;
         more = Process32NextW(all, &entry))
        if (entry.th32ProcessID == process)
            parent = entry.th32ParentProcessID;
    if (all != INVALID_HANDLE_VALUE)
        CloseHandle(all);
    return start_of(parent, &first) && start_of(process, &second) &&
                   CompareFileTime(&first, &second) <= 0
               ? parent
               : 0;
}

int win32_is_service(DWORD process, bool *ret, struct error *err) {
    _cleanup_service_ SC_HANDLE manager = NULL;
    _cleanup_(freep) ENUM_SERVICE_STATUS_PROCESSW *list = NULL;
    DWORD parent = parent_of(process), room = 65536, more = 0, count = 0;

    *ret = false;
    list = xcalloc(1, room);
    if (win32_open_manager(SC_MANAGER_CONNECT | SC_MANAGER_ENUMERATE_SERVICE, &manager, err) < 0)
        return -1;
    while (!EnumServicesStatusExW(manager, SC_ENUM_PROCESS_INFO, SERVICE_WIN32, SERVICE_ACTIVE,
                                  (BYTE *)list, room, &more, &count, NULL, NULL)) {
        if (GetLastError() != ERROR_MORE_DATA)
            return win32_fail(err, GetLastError(), "list the services that run");
        room += more; /* Ask again with more space; more services may have started since. */
        free(list);
        list = xcalloc(1, room);
    }
    for (DWORD i = 0; i < count && !*ret; i++) {
        DWORD id = list[i].ServiceStatusProcess.dwProcessId;

        *ret = id && (id == process || id == parent);
    }
    return 0;
}
