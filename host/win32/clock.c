/* Reads clocks, and has the event that is set when somebody wants winjoin to stop. */
#include "host/win32/win32.h"

static HANDLE interrupted; /* Manual-reset event, created once before other threads start. */

enum { GRACE_MS = 10000 };

static BOOL WINAPI on_control(DWORD type) {
    /* Every user's logoff is reported to services, so ignore it; Windows ends interactive programs
     * anyway. */
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

void win32_interrupt_listen(void) {
    if (interrupted)
        return;
    interrupted = CreateEventW(NULL, TRUE, FALSE, NULL);
    /* A failure means that there is no console and so no Ctrl-C. */
    (void)SetConsoleCtrlHandler(on_control, TRUE);
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
