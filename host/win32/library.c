/* Functions that some builds of Windows lack are looked for when needed, in System32 only. */
#include "host/win32/win32.h"

void *win32_function(const wchar_t *dll, const char *name) {
    HMODULE module = LoadLibraryExW(dll, NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);

    /* Never unloaded: the few DLLs asked for stay in use until the end. */
    return module ? (void *)(uintptr_t)GetProcAddress(module, name) : NULL;
}
