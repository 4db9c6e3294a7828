/* Writes entries to the Application log and registers the file with their message texts. */
#include "host/win32/win32.h"

int win32_event(struct host *, char level, unsigned event_id, const char *text, struct error *err) {
    WORD type = level == 'e'   ? EVENTLOG_ERROR_TYPE
                : level == 'w' ? EVENTLOG_WARNING_TYPE
                               : EVENTLOG_INFORMATION_TYPE;
    _cleanup_wide_ wchar_t *wide = win32_wide(text);
    const wchar_t *texts[] = {wide};
    HANDLE source = RegisterEventSourceW(NULL, L"winjoin");
    BOOL done;
    DWORD code;

    if (!source)
        return win32_fail(err, GetLastError(), "open the event log");
    done = ReportEventW(source, type, 0, event_id, NULL, 1, 0, texts, NULL);
    code = GetLastError();
    DeregisterEventSource(source);
    return done ? 0 : win32_fail(err, code, "write to the event log");
}

int win32_event_source_set(struct host *, const char *file, struct error *err) {
    const DWORD types = EVENTLOG_ERROR_TYPE | EVENTLOG_WARNING_TYPE | EVENTLOG_INFORMATION_TYPE;
    _cleanup_wide_ wchar_t *key_name = win32_wide(HOST_EVENT_SOURCE_KEY);
    _cleanup_wide_ wchar_t *wide = file ? win32_wide(file) : NULL;
    DWORD size = wide ? (DWORD)((wcslen(wide) + 1) * sizeof *wide) : 0;
    LSTATUS code;
    HKEY key;

    if (!file) {
        code = RegDeleteKeyW(HKEY_LOCAL_MACHINE, key_name);
        code = code == ERROR_FILE_NOT_FOUND ? 0 : code;
    } else {
        code = RegCreateKeyExW(HKEY_LOCAL_MACHINE, key_name, 0, NULL, 0, KEY_SET_VALUE, NULL, &key,
                               NULL);
    }
    if (file && !code) {
        code = RegSetValueExW(key, L"EventMessageFile", 0, REG_EXPAND_SZ, (const BYTE *)wide, size);
        if (!code)
            code = RegSetValueExW(key, L"TypesSupported", 0, REG_DWORD, (const BYTE *)&types,
                                  sizeof types);
        RegCloseKey(key);
    }
    return code ? win32_fail(err, (DWORD)code, "write registry key '%s'", HOST_EVENT_SOURCE_KEY)
                : 0;
}
