/* Reads values under HKEY_LOCAL_MACHINE as text, and writes them as REG_DWORD or as text of the
 * existing type. */
#include "host/win32/win32.h"

enum { VALUE_MAX = 1024 * 1024 };

/* Reads a value. When `raw` is false, a REG_EXPAND_SZ is expanded and returned like a REG_SZ. */
int win32_registry_get(struct host *, const char *key, const char *value, bool raw, char **ret,
                       struct error *err) {
    const DWORD flags =
        RRF_RT_REG_SZ | RRF_RT_REG_DWORD | (raw ? RRF_RT_REG_EXPAND_SZ | RRF_NOEXPAND : 0);
    _cleanup_wide_ wchar_t *wide_key = win32_wide(key + (text_starts_with(key, "HKLM\\") ? 5 : 0));
    _cleanup_wide_ wchar_t *wide_value = win32_wide(value);
    _cleanup_(freep) BYTE *data = NULL;
    DWORD type = 0, size = 0, number;
    LSTATUS code;

    code = RegGetValueW(HKEY_LOCAL_MACHINE, wide_key, wide_value, flags, &type, NULL, &size);
    if (!code && size <= VALUE_MAX) {
        data = xcalloc(size + 2 * sizeof(wchar_t), 1);
        code = RegGetValueW(HKEY_LOCAL_MACHINE, wide_key, wide_value, flags, &type, data, &size);
    }
    if (code || !data)
        return win32_fail(err, code ? (DWORD)code : ERROR_MORE_DATA, "read registry value '%s\\%s'",
                          key, value);
    memcpy(&number, data, sizeof number);
    *ret = type == REG_DWORD ? xasprintf("%lu", (unsigned long)number)
                             : win32_narrow((const wchar_t *)(const void *)data);
    return 0;
}

static LSTATUS put_value(const wchar_t *key_name, const wchar_t *value, bool number,
                         const char *data) {
    _cleanup_wide_ wchar_t *text = win32_wide(data);
    DWORD word = (DWORD)strtoul(data, NULL, 10);
    const BYTE *bytes = (const BYTE *)(number ? (const void *)&word : text);
    DWORD size = number ? sizeof word : (DWORD)((wcslen(text) + 1) * sizeof *text);
    DWORD type = number ? REG_DWORD : REG_SZ, before = REG_NONE;
    LSTATUS code;
    HKEY key;

    code = RegCreateKeyExW(HKEY_LOCAL_MACHINE, key_name, 0, NULL, 0,
                           KEY_SET_VALUE | KEY_QUERY_VALUE, NULL, &key, NULL);
    if (code)
        return code;
    if (!number && !RegQueryValueExW(key, value, NULL, &before, NULL, NULL) &&
        before == REG_EXPAND_SZ)
        type = before;
    code = RegSetValueExW(key, value, 0, type, bytes, size);
    RegCloseKey(key);
    return code;
}

/* Deletes a value, and its key when the key is then empty. */
static LSTATUS take_value(const wchar_t *key_name, const wchar_t *value) {
    DWORD keys = 1, values = 1;
    LSTATUS code;
    HKEY key;

    code = RegOpenKeyExW(HKEY_LOCAL_MACHINE, key_name, 0, KEY_SET_VALUE | KEY_QUERY_VALUE, &key);
    if (code)
        return code;
    code = RegDeleteValueW(key, value);
    (void)RegQueryInfoKeyW(key, NULL, NULL, NULL, &keys, NULL, NULL, &values, NULL, NULL, NULL,
                           NULL);
    RegCloseKey(key);
    /* A failure to delete the key is ignored, because an empty key does no harm. */
    if (!code && !keys && !values)
        (void)RegDeleteKeyW(HKEY_LOCAL_MACHINE, key_name);
    return code;
}

int win32_registry_set(struct host *, const char *key, const char *value, bool number,
                       const char *data, struct error *err) {
    _cleanup_wide_ wchar_t *wide_key = win32_wide(key + (text_starts_with(key, "HKLM\\") ? 5 : 0));
    _cleanup_wide_ wchar_t *wide_value = win32_wide(value);
    LSTATUS code =
        data ? put_value(wide_key, wide_value, number, data) : take_value(wide_key, wide_value);

    if (!data && code == ERROR_FILE_NOT_FOUND)
        return 0;
    return code ? win32_fail(err, (DWORD)code, "write registry value '%s\\%s'", key, value) : 0;
}
