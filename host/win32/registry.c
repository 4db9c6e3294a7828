/* Reading values under HKEY_LOCAL_MACHINE as text. */
#include "host/win32/win32.h"

#include <stdlib.h>
#include <string.h>

enum { VALUE_MAX = 1024 * 1024 };

int win32_registry_get(struct host *host, const char *key, const char *value, char **ret,
                       struct error *err) {
    const char *below = text_starts_with(key, "HKLM\\") ? key + 5 : key;
    _cleanup_wide_ wchar_t *wide_key = win32_wide(below);
    _cleanup_wide_ wchar_t *wide_value = win32_wide(value);
    _cleanup_(freep) BYTE *data = NULL;
    DWORD flags = RRF_RT_REG_SZ | RRF_RT_REG_DWORD; /* expanded texts count as REG_SZ */
    DWORD type = 0, size = 0;
    LSTATUS code;

    (void)host;
    code = RegGetValueW(HKEY_LOCAL_MACHINE, wide_key, wide_value, flags, &type, NULL, &size);
    if (!code && size <= VALUE_MAX) {
        data = xcalloc(size + 2 * sizeof(wchar_t), 1);
        code = RegGetValueW(HKEY_LOCAL_MACHINE, wide_key, wide_value, flags, &type, data, &size);
    }
    if (code || !data)
        return win32_fail(err, code ? (DWORD)code : ERROR_MORE_DATA, "read registry value '%s\\%s'",
                          key, value);
    if (type == REG_DWORD) {
        DWORD number;

        memcpy(&number, data, sizeof number);
        *ret = xasprintf("%lu", (unsigned long)number);
    } else {
        *ret = win32_narrow((const wchar_t *)(const void *)data);
    }
    return 0;
}
