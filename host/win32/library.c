/* Loads DLLs at run time from System32 only, and never from the folder of winjoin.exe, to which
 * other users may have added files. */
#include "host/win32/win32.h"

#include <delayimp.h>

/* Restricts the DLL search for the whole process, including DLLs that Windows' own DLLs load. It
 * runs before other constructors, because the constructor of the stack protector loads Windows'
 * cryptography. */
__attribute__((constructor(101))) static void search_system_alone(void) {
    /* SetDefaultDllDirectories exists since Windows 8. */
    (void)SetDefaultDllDirectories(LOAD_LIBRARY_SEARCH_SYSTEM32);
}

void *win32_function(const wchar_t *dll, const char *name) {
    HMODULE module = LoadLibraryExW(dll, NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);

    /* The DLLs are never unloaded, because they are used until the end. */
    return module ? (void *)(uintptr_t)GetProcAddress(module, name) : NULL;
}

/* The linker's delay-load helper calls this before it loads a DLL (dist/make/windows.mk). */
static FARPROC WINAPI load_delayed(unsigned what, PDelayLoadInfo info) {
    if (what != dliNotePreLoadLibrary)
        return NULL;
    /* Load iphlpapi.dll first: DNSAPI loads it with its own search, which does not find System32's
     * copy on every system. */
    (void)LoadLibraryExA("iphlpapi.dll", NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
    return (FARPROC)(void *)LoadLibraryExA(info->szDll, NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
}

PfnDliHook __pfnDliNotifyHook2 = load_delayed;
