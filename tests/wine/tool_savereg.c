/* savereg FILE: writes HKLM into a file, in Wine's own format, in a few milliseconds. Who needs it:
 * the rig's comparison of a host before and after. */
#include <windows.h>

static void enable(const WCHAR *privilege) {
    TOKEN_PRIVILEGES wanted = {.PrivilegeCount = 1};
    HANDLE token;

    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_ADJUST_PRIVILEGES, &token))
        return;
    wanted.Privileges[0].Attributes = SE_PRIVILEGE_ENABLED;
    if (LookupPrivilegeValueW(NULL, privilege, &wanted.Privileges[0].Luid))
        AdjustTokenPrivileges(token, FALSE, &wanted, 0, NULL, NULL);
    CloseHandle(token);
}

int wmain(int argc, WCHAR **argv) {
    if (argc != 2)
        return 2;
    enable(L"SeBackupPrivilege");
    DeleteFileW(argv[1]);
    return RegSaveKeyW(HKEY_LOCAL_MACHINE, argv[1], NULL) ? 1 : 0;
}
