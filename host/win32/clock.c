/* Time, and the one event that says that somebody wants winjoin to stop. */
#include "host/win32/win32.h"

static HANDLE interrupted; /* manual reset; made once, before any thread */

enum { GRACE_MS = 10000 };

static BOOL WINAPI on_control(DWORD type) {
    if (type ==
        CTRL_LOGOFF_EVENT) /* a service hears of every user's; an interactive one is ended */
        return TRUE;
    SetEvent(interrupted);
    /* When the console closes or Windows stops, the process is ended as soon as this returns (or
     * after five seconds): until then winjoin ends by itself, with its journal in order. */
    if (type == CTRL_CLOSE_EVENT || type == CTRL_SHUTDOWN_EVENT)
        Sleep(GRACE_MS);
    return TRUE;
}

void win32_interrupt_listen(void) {
    if (interrupted)
        return;
    interrupted = CreateEventW(NULL, TRUE, FALSE, NULL);
    (void)SetConsoleCtrlHandler(on_control, TRUE); /* without a console nobody presses Ctrl-C */
}

void win32_interrupt(void) {
    SetEvent(interrupted);
}

int64_t win32_seconds(const FILETIME *time) {
    const uint64_t since_1601 = 116444736000000000u; /* of 1970, in 100 ns */

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
