/* Defines the table of operations of the Windows host, and implements the short ones. */
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

static const struct host_ops win32_ops = {HOST_OPS(HOST_OP_ROW, win32)};

struct host *host_win32_open(void) {
    struct host *host = xcalloc(1, sizeof *host);

    host->ops = &win32_ops;
    win32_interrupt_listen();
    return host;
}

int host_open(const char *rootfs, struct host **ret, struct error *err) {
    if (rootfs)
        return error_set(err, ERROR_USAGE, "--rootfs is only supported by winjoin on Linux");
    *ret = host_win32_open();
    return 0;
}
