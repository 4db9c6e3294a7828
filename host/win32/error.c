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

static enum error_kind kind_of(DWORD code) {
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        if (kinds[i].code == code)
            return kinds[i].kind;
    return ERROR_HOST;
}

/* Sets the error "doing: reason". The reason is Windows' message in winjoin's style: it begins with
 * a lower-case letter and has no period at the end. */
static int fail(struct error *err, enum error_kind kind, DWORD code, const char *format,
                va_list args) {
    _cleanup_(freep) char *reason = NULL;
    _cleanup_(text_free) struct text doing = {0};
    wchar_t *wide = NULL;
    DWORD units = FormatMessageW(FORMAT_MESSAGE_ALLOCATE_BUFFER | FORMAT_MESSAGE_FROM_SYSTEM |
                                     FORMAT_MESSAGE_IGNORE_INSERTS,
                                 NULL, code, 0, (wchar_t *)(void *)&wide, 0, NULL);
    bool known = units && wide;

    reason = known ? win32_narrow(wide) : xstrdup("Windows gave no reason");
    LocalFree(wide);
    for (size_t len = strlen(reason); known && len && strchr(". \r\n", reason[len - 1]);)
        reason[--len] = '\0';
    if (known && reason[0] && islower((unsigned char)reason[1]))
        reason[0] = (char)tolower((unsigned char)reason[0]);
    text_addv(&doing, format, args);
    (void)error_set_os(err, kind, code, "%s: %s", text_str(&doing), reason);
    return -1;
}

int win32_fail(struct error *err, DWORD code, const char *format, ...) {
    va_list args;

    va_start(args, format);
    (void)fail(err, kind_of(code), code, format, args);
    va_end(args);
    return -1;
}

int win32_fail_hresult(struct error *err, HRESULT hresult, const char *format, ...) {
    enum error_kind kind =
        HRESULT_FACILITY(hresult) == FACILITY_WIN32 ? kind_of(HRESULT_CODE(hresult)) : ERROR_HOST;
    va_list args;

    if (hresult == E_NOTIMPL || hresult == REGDB_E_CLASSNOTREG || hresult == E_NOINTERFACE)
        kind = ERROR_UNSUPPORTED;
    va_start(args, format);
    (void)fail(err, kind, (DWORD)hresult, format, args);
    va_end(args);
    return -1;
}
