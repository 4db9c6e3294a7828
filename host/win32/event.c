/* Entries in the Application log. */
#include "host/win32/win32.h"

int win32_event(struct host *host, char level, unsigned event_id, const char *text,
                struct error *err) {
    WORD type = level == 'e'   ? EVENTLOG_ERROR_TYPE
                : level == 'w' ? EVENTLOG_WARNING_TYPE
                               : EVENTLOG_INFORMATION_TYPE;
    _cleanup_wide_ wchar_t *wide = win32_wide(text);
    const wchar_t *texts[] = {wide};
    HANDLE source = RegisterEventSourceW(NULL, L"winjoin");
    BOOL done;
    DWORD code;

    (void)host;
    if (!source)
        return win32_fail(err, GetLastError(), "open the event log");
    done = ReportEventW(source, type, 0, event_id, NULL, 1, 0, texts, NULL);
    code = GetLastError();
    DeregisterEventSource(source);
    return done ? 0 : win32_fail(err, code, "write to the event log");
}
