/* Finds out on Windows what standard output and standard error can display, and reads arguments and
 * resources of winjoin.exe. */
#include "host/win32/win32.h"

#include <io.h>
#include <shellapi.h>

#include "host/path.h"
#include "host/terminal.h"

/* The C library's file numbers of the two streams, and its constant _O_BINARY. */
enum { OUTPUT = 1, ERRORS = 2, BINARY = 0x8000 };

static bool open_stream(DWORD which, bool *color) {
    HANDLE handle = GetStdHandle(which);
    DWORD mode;

    if (!GetConsoleMode(handle, &mode))
        return false;
    *color = SetConsoleMode(handle, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
    return true;
}

void terminal_open(struct terminal *ret) {
    CONSOLE_SCREEN_BUFFER_INFO screen;
    DWORD mode;

    *ret = (struct terminal){0};
    /* Write all bytes unchanged, so that LF does not become CR LF in documents and signed data. */
    (void)_setmode(OUTPUT, BINARY);
    (void)_setmode(ERRORS, BINARY);
    ret->in_is_terminal = GetConsoleMode(GetStdHandle(STD_INPUT_HANDLE), &mode);
    ret->out_is_terminal = open_stream(STD_OUTPUT_HANDLE, &ret->color);
    ret->err_is_terminal = open_stream(STD_ERROR_HANDLE, &ret->color);
    if (ret->out_is_terminal || ret->err_is_terminal)
        ret->utf8 = SetConsoleOutputCP(CP_UTF8);
    if (ret->err_is_terminal &&
        GetConsoleScreenBufferInfo(GetStdHandle(STD_ERROR_HANDLE), &screen)) {
        ret->columns = (unsigned)(screen.srWindow.Right - screen.srWindow.Left + 1);
        ret->lines = (unsigned)(screen.srWindow.Bottom - screen.srWindow.Top + 1);
    }
}

char **terminal_arguments(int, char **, int *ret_argc) {
    wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), ret_argc);
    char **narrowed;

    if (!wide)
        abort(); /* CommandLineToArgvW fails only when memory is exhausted. */
    narrowed = xcalloc((size_t)*ret_argc + 1, sizeof *narrowed);
    for (int i = 0; i < *ret_argc; i++)
        narrowed[i] = win32_narrow(wide[i]);
    LocalFree(wide);
    return narrowed;
}

bool terminal_probe_program(const void **ret_data, size_t *ret_len) {
    HRSRC found = FindResourceW(NULL, L"WINJOIN_PROBE", (LPCWSTR)RT_RCDATA);
    HGLOBAL loaded = found ? LoadResource(NULL, found) : NULL;

    if (!loaded)
        return false;
    *ret_data = LockResource(loaded);
    *ret_len = SizeofResource(NULL, found);
    return true;
}

char *terminal_full_path(const char *given) {
    _cleanup_(freep) char *plain = path_plain(given);
    _cleanup_wide_ wchar_t *wide = win32_wide(plain), *full = NULL;
    DWORD size;

    if (strstr(given, "://"))
        return xstrdup(given);
    size = GetFullPathNameW(wide, 0, NULL, NULL);
    full = xcalloc((size_t)size + 1, sizeof *full);
    if (!size || GetFullPathNameW(wide, size, full, NULL) >= size || !*full)
        return xstrdup(given);
    return win32_narrow(full);
}

char *path_shown(const char *path) {
    return xstrdup(path);
}

FILE *terminal_append(const char *path) {
    _cleanup_(freep) char *full = terminal_full_path(path);
    _cleanup_wide_ wchar_t *wide = win32_wide(full);

    return _wfopen(wide, L"a"); /* fopen() accepts UTF-8 only since Windows Server 2022. */
}

void terminal_echo(bool on) {
    HANDLE input = GetStdHandle(STD_INPUT_HANDLE);
    DWORD mode;

    if (GetConsoleMode(input, &mode))
        (void)SetConsoleMode(input,
                             on ? mode | ENABLE_ECHO_INPUT : mode & ~(DWORD)ENABLE_ECHO_INPUT);
}

void terminal_forbid_dumps(void) {
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);
}
