/* dism: installs the feature Containers on a played server that lacks it, and asks for a restart.
 * What the stand-in for dismapi.dll tells stands in the registry. As shutdown.exe it notes that it
 * was called; the test restarts the machine. */
#include <windows.h>

#include <wchar.h>

#define KEY L"SOFTWARE\\winjoin-rig"

enum { RESTART_NEEDED = 3010 };

int wmain(int argc, wchar_t **argv) {
    BOOL shutdown = argc > 0 && wcsstr(argv[0], L"shutdown") != NULL;
    DWORD on = 1;
    LSTATUS status = RegSetKeyValueW(HKEY_LOCAL_MACHINE, KEY, shutdown ? L"Restart" : L"Containers",
                                     REG_DWORD, &on, sizeof on);

    return status ? (int)status : shutdown ? 0 : RESTART_NEEDED;
}
