/* Converts text between UTF-8, which winjoin uses, and UTF-16 for Windows functions. */
#include "host/win32/win32.h"

wchar_t *win32_wide(const char *text) {
    int units = MultiByteToWideChar(CP_UTF8, 0, text, -1, NULL, 0);
    wchar_t *wide = xcalloc((size_t)units + 1, sizeof *wide);

    /* The buffer is large enough, because the size was just requested. */
    (void)MultiByteToWideChar(CP_UTF8, 0, text, -1, wide, units);
    return wide;
}

wchar_t *win32_wide_plain(const char *text) {
    wchar_t *wide = win32_wide(text);

    for (wchar_t *c = wide; *c; c++)
        if (*c == L'/')
            *c = L'\\';
    return wide;
}

char *win32_narrow(const wchar_t *text) {
    int bytes = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
    char *narrow = xcalloc((size_t)bytes + 1, 1);

    (void)WideCharToMultiByte(CP_UTF8, 0, text, -1, narrow, bytes, NULL, NULL);
    return narrow;
}

wchar_t *win32_wide_path(const char *path) {
    _cleanup_(freep) char *plain = NULL;

    if (strncmp(path, "\\\\", 2) == 0)
        plain = xasprintf("\\\\?\\UNC\\%s", path + 2);
    else
        plain = xasprintf("\\\\?\\%s", path);
    return win32_wide(plain);
}

void win32_wide_freep(wchar_t **text) {
    if (*text) /* The text may contain a secret, e.g. a command line or the environment. */
        secret_wipe((char *)*text, wcslen(*text) * sizeof **text);
    free(*text);
    *text = NULL;
}

void win32_block_freep(wchar_t **block) {
    for (wchar_t *item = *block; item && *item;) {
        size_t len = wcslen(item);

        secret_wipe((char *)item, len * sizeof *item);
        item += len + 1;
    }
    free(*block);
    *block = NULL;
}
