/* Converts Win32 error codes (winerror.h) and HRESULTs to error kinds and messages. */
#include "host/win32/win32.h"

#include <ctype.h>

static const struct {
    DWORD code;
    enum error_kind kind;
} kinds[] = {
    {ERROR_FILE_NOT_FOUND, ERROR_ABSENT},
    {ERROR_PATH_NOT_FOUND, ERROR_ABSENT},
    {ERROR_INVALID_DRIVE, ERROR_ABSENT},
    {ERROR_NOT_FOUND, ERROR_ABSENT},
    {ERROR_SERVICE_DOES_NOT_EXIST, ERROR_ABSENT},
    {ERROR_ACCESS_DENIED, ERROR_DENIED},
    {WIN32_ERROR_ELEVATION_REQUIRED, ERROR_DENIED},
    {ERROR_PRIVILEGE_NOT_HELD, ERROR_DENIED},
    {ERROR_ALREADY_EXISTS, ERROR_CONFLICT},
    {ERROR_FILE_EXISTS, ERROR_CONFLICT},
    {ERROR_SHARING_VIOLATION, ERROR_CONFLICT},
    {ERROR_DIR_NOT_EMPTY, ERROR_CONFLICT},
    {ERROR_OBJECT_ALREADY_EXISTS, ERROR_CONFLICT},
    {ERROR_SERVICE_EXISTS, ERROR_CONFLICT},
    {ERROR_SERVICE_MARKED_FOR_DELETE, ERROR_CONFLICT},
    {ERROR_DEPENDENT_SERVICES_RUNNING, ERROR_CONFLICT},
    {ERROR_SERVICE_DATABASE_LOCKED, ERROR_CONFLICT},
    {ERROR_NOT_SUPPORTED, ERROR_UNSUPPORTED},
    {ERROR_CALL_NOT_IMPLEMENTED, ERROR_UNSUPPORTED},
    {ERROR_PROC_NOT_FOUND, ERROR_UNSUPPORTED},
    {ERROR_MOD_NOT_FOUND, ERROR_UNSUPPORTED},
    {WAIT_TIMEOUT, ERROR_TIMED_OUT},
    {ERROR_TIMEOUT, ERROR_TIMED_OUT},
    {ERROR_SERVICE_REQUEST_TIMEOUT, ERROR_TIMED_OUT},
};

/* The reason is Windows' text in winjoin's style: lower-case first letter, no full stop. */
int win32_fail(struct error *err, DWORD code, const char *format, ...) {
    _cleanup_(freep) char *reason = NULL;
    _cleanup_(text_free) struct text doing = {0};
    wchar_t *wide = NULL;
    DWORD units = FormatMessageW(FORMAT_MESSAGE_ALLOCATE_BUFFER | FORMAT_MESSAGE_FROM_SYSTEM |
                                     FORMAT_MESSAGE_IGNORE_INSERTS,
                                 NULL, code, 0, (wchar_t *)(void *)&wide, 0, NULL);
    bool known = units && wide;
    HRESULT hresult = (HRESULT)code;
    DWORD of = FAILED(hresult) && HRESULT_FACILITY(hresult) == FACILITY_WIN32
                   ? (DWORD)HRESULT_CODE(hresult)
                   : code;
    enum error_kind kind = ERROR_HOST;
    va_list args;

    if (hresult == E_NOTIMPL || hresult == REGDB_E_CLASSNOTREG || hresult == E_NOINTERFACE)
        kind = ERROR_UNSUPPORTED;
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        if (kinds[i].code == of)
            kind = kinds[i].kind;
    reason = known ? win32_narrow(wide) : xstrdup("Windows gave no reason");
    LocalFree(wide);
    for (size_t len = strlen(reason); known && len && strchr(". \r\n", reason[len - 1]);)
        reason[--len] = '\0';
    if (known && reason[0] && islower((unsigned char)reason[1]))
        reason[0] = (char)tolower((unsigned char)reason[0]);
    va_start(args, format);
    text_addv(&doing, format, args);
    va_end(args);
    (void)error_set_os(err, kind, code, "%s: %s", text_str(&doing), reason);
    return -1;
}
