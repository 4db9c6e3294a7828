/* DLLs that are not loaded with the program: from System32 alone, and never from the folder where
 * winjoin.exe lies, to which others may have added files. */
#include "host/win32/win32.h"

#include <delayimp.h>

/* Also what Windows' own DLLs load in their turn. Before all other constructors: the one of the
 * stack protector asks Windows' cryptography for a random number. */
__attribute__((constructor(101))) static void search_system_alone(void) {
    (void)SetDefaultDllDirectories(LOAD_LIBRARY_SEARCH_SYSTEM32); /* in each Windows since 8 */
}

void *win32_function(const wchar_t *dll, const char *name) {
    HMODULE module = LoadLibraryExW(dll, NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);

    /* Never unloaded: the few DLLs asked for stay in use until the end. */
    return module ? (void *)(uintptr_t)GetProcAddress(module, name) : NULL;
}

/* What the linker delays (dist/make/windows.mk) is asked for at its first call. */
static FARPROC WINAPI load_delayed(unsigned what, PDelayLoadInfo info) {
    if (what != dliNotePreLoadLibrary)
        return NULL;
    /* DNSAPI delays this one and loads it its own way, which is not everywhere System32's. */
    (void)LoadLibraryExA("iphlpapi.dll", NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
    return (FARPROC)(void *)LoadLibraryExA(info->szDll, NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
}

PfnDliHook __pfnDliNotifyHook2 = load_delayed;
