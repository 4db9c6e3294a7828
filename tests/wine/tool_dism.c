/* dism: installs a feature on a played server that lacks it, and asks for a restart. What the
 * stand-in for dismapi.dll tells stands in the registry; Hyper-V brings its service. As
 * shutdown.exe it notes that it was called; the test restarts the machine. */
#include <windows.h>

#include <wchar.h>

#define KEY L"SOFTWARE\\winjoin-rig"

enum { RESTART_NEEDED = 3010 };

/* The feature's name, of /featurename:NAME. */
static const wchar_t *feature_of(int argc, wchar_t **argv) {
    static const wchar_t flag[] = L"/featurename:";

    for (int i = 1; i < argc; i++)
        if (wcsncmp(argv[i], flag, wcslen(flag)) == 0)
            return argv[i] + wcslen(flag);
    return L"Restart";
}

static void put_service(const wchar_t *name) {
    SC_HANDLE manager = OpenSCManagerW(NULL, NULL, SC_MANAGER_CREATE_SERVICE);
    SC_HANDLE service = CreateServiceW(
        manager, name, name, SERVICE_QUERY_STATUS, SERVICE_WIN32_OWN_PROCESS, SERVICE_DEMAND_START,
        SERVICE_ERROR_IGNORE, L"C:\\windows\\system32\\vmms.exe", NULL, NULL, NULL, NULL, NULL);

    if (service)
        CloseServiceHandle(service);
    if (manager)
        CloseServiceHandle(manager);
}

int wmain(int argc, wchar_t **argv) {
    BOOL shutdown = argc > 0 && wcsstr(argv[0], L"shutdown") != NULL;
    const wchar_t *feature = feature_of(argc, argv);
    DWORD on = 1;
    LSTATUS status = RegSetKeyValueW(HKEY_LOCAL_MACHINE, KEY, feature, REG_DWORD, &on, sizeof on);

    if (wcscmp(feature, L"Microsoft-Hyper-V") == 0)
        put_service(L"vmms");
    return status ? (int)status : shutdown ? 0 : RESTART_NEEDED;
}
