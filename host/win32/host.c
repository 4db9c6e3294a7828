/* Has the Windows host's table of operations, those of only one call, its time, and the event by
 * which a user or a service asks winjoin to stop. */
#include "host/host.h"

#include "host/command_line.h"
#include "host/win32/win32.h"

#include <bcrypt.h>

const bool host_rehearses = false;

int win32_random(struct host *, void *data, size_t len, struct error *err) {
    NTSTATUS status = BCryptGenRandom(NULL, data, (ULONG)len, BCRYPT_USE_SYSTEM_PREFERRED_RNG);

    return status ? error_set_os(err, ERROR_HOST, (unsigned long)status, "get random bytes") : 0;
}

char *win32_environment(struct host *, const char *name) {
    _cleanup_wide_ wchar_t *wide = win32_wide(name);
    DWORD units = GetEnvironmentVariableW(wide, NULL, 0);
    _cleanup_wide_ wchar_t *value = xcalloc((size_t)units + 1, sizeof *value);

    if (!units)
        return NULL;
    /* The buffer is large enough, because the size was just requested. */
    (void)GetEnvironmentVariableW(wide, value, units);
    /* Setting "" removes the variable, also from the C library's copy of the environment. */
    if (child_variable_is_ours(name))
        (void)_wputenv_s(wide, L"");
    return win32_narrow(value);
}

void win32_environment_names(struct host *, const char *prefix, struct text_list *ret) {
    wchar_t *all = GetEnvironmentStringsW();

    for (const wchar_t *item = all; item && *item; item += wcslen(item) + 1) {
        _cleanup_(freep) char *name = win32_narrow(item);

        name[strcspn(name, "=")] = '\0';
        for (char *p = name; *p; p++)
            if (*p >= 'a' && *p <= 'z')
                *p = (char)(*p - 'a' + 'A');
        if (text_starts_with(name, prefix))
            text_list_add(ret, name);
    }
    FreeEnvironmentStringsW(all);
}

char *win32_program_path(struct host *) {
    DWORD size = 32768; /* The longest possible path on Windows. */
    _cleanup_wide_ wchar_t *path = xcalloc(size, sizeof *path);

    (void)GetModuleFileNameW(NULL, path, size - 1);
    return win32_narrow(path);
}

bool win32_pipe_exists(struct host *, const char *path) {
    _cleanup_wide_ wchar_t *wide = win32_wide_plain(path);

    /* A pipe whose instances are all busy exists too. */
    return WaitNamedPipeW(wide, 1) || GetLastError() == ERROR_SEM_TIMEOUT;
}

void win32_free(struct host *host) {
    free(host);
}

/* ---- time and interruption ---- */

static HANDLE interrupted; /* Manual-reset event, created once before other threads start. */

enum { GRACE_MS = 10000 };

static BOOL WINAPI on_control(DWORD type) {
    /* A service gets this event when any user logs off. Windows ends other processes anyway. */
    if (type == CTRL_LOGOFF_EVENT)
        return TRUE;
    SetEvent(interrupted);
    /* When the console closes or Windows shuts down, the process is terminated as soon as this
     * function returns, or after five seconds. The sleep lets winjoin end by itself and finish its
     * journal. */
    if (type == CTRL_CLOSE_EVENT || type == CTRL_SHUTDOWN_EVENT)
        Sleep(GRACE_MS);
    return TRUE;
}

void win32_interrupt(void) {
    SetEvent(interrupted);
}

int64_t win32_seconds(const FILETIME *time) {
    /* The time 1970-01-01, in units of 100 ns since 1601. */
    const uint64_t since_1601 = 116444736000000000u;

    return (int64_t)((((uint64_t)time->dwHighDateTime << 32 | time->dwLowDateTime) - since_1601) /
                     10000000);
}

int64_t win32_now(struct host *) {
    FILETIME time;

    GetSystemTimeAsFileTime(&time);
    return win32_seconds(&time);
}

uint64_t win32_monotonic_ms(struct host *) {
    return GetTickCount64();
}

bool win32_interrupted(struct host *) {
    return interrupted && WaitForSingleObject(interrupted, 0) == WAIT_OBJECT_0;
}

int win32_sleep(struct host *, unsigned milliseconds, struct error *err) {
    if (!interrupted)
        Sleep(milliseconds);
    else if (WaitForSingleObject(interrupted, milliseconds) == WAIT_OBJECT_0)
        return error_set(err, ERROR_INTERRUPTED, "wait: interrupted");
    return 0;
}

/* ---- the table of operations ---- */

static const struct host_ops win32_ops = {HOST_OPS(HOST_OP_ROW, win32)
                                              HOST_OPS_OF_WINDOWS(HOST_OP_ROW, win32)};

struct host *host_win32_open(void) {
    struct host *host = xcalloc(1, sizeof *host);

    host->ops = &win32_ops;
    if (!interrupted) {
        interrupted = CreateEventW(NULL, TRUE, FALSE, NULL);
        /* A failure means that there is no console and so no Ctrl-C. */
        (void)SetConsoleCtrlHandler(on_control, TRUE);
    }
    return host;
}

int host_open(const char *rootfs, struct host **ret, struct error *err) {
    if (rootfs)
        return error_set(err, ERROR_USAGE, "--rootfs is only supported by winjoin on Linux");
    *ret = host_win32_open();
    return 0;
}
