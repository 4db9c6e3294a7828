/* Failure actions of services, written to the registry and read from there. */
#include "tests/wine/recovery.h"

#include <stdio.h>
#include <string.h>
#include <windows.h>
#include <winsvc.h>

#include "tests/wine/exports.h"

enum { ACTIONS_MAX = 16, TEXT_MAX = 8192, ACTIONS_AT = 20 };

/* As it stands in the registry: two texts that are not there, and where the actions begin. */
struct kept {
    DWORD reset_period, no_message, no_command, count, actions_at;
    SC_ACTION actions[ACTIONS_MAX];
};

static const WCHAR actions_value[] = L"FailureActions";
static const WCHAR flag_value[] = L"FailureActionsOnNonCrashFailures";

static BOOL(WINAPI *wine_change)(SC_HANDLE, DWORD, void *);
static BOOL(WINAPI *wine_query)(SC_HANDLE, DWORD, BYTE *, DWORD, DWORD *);

/* A handle does not say its service's name; the name that is shown leads to it. */
static HKEY key_of(SC_HANDLE service, REGSAM access) {
    BYTE buffer[TEXT_MAX];
    QUERY_SERVICE_CONFIGW *config = (void *)buffer;
    WCHAR name[256], path[300];
    DWORD size, len = 256;
    SC_HANDLE manager;
    HKEY key = NULL;

    if (!QueryServiceConfigW(service, config, sizeof buffer, &size))
        return NULL;
    manager = OpenSCManagerW(NULL, NULL, SC_MANAGER_CONNECT);
    if (manager && GetServiceKeyNameW(manager, config->lpDisplayName, name, &len)) {
        (void)swprintf(path, 300, L"SYSTEM\\CurrentControlSet\\Services\\%ls", name);
        if (RegOpenKeyExW(HKEY_LOCAL_MACHINE, path, 0, access, &key))
            key = NULL;
    }
    if (manager)
        CloseServiceHandle(manager);
    return key;
}

static void keep_actions(HKEY key, const SERVICE_FAILURE_ACTIONSW *asked) {
    struct kept kept = {.reset_period = asked->dwResetPeriod, .actions_at = ACTIONS_AT};

    if (!asked->lpsaActions)
        return; /* as they are */
    if (!asked->cActions) {
        (void)RegDeleteValueW(key, actions_value);
        return;
    }
    for (; kept.count < asked->cActions && kept.count < ACTIONS_MAX; kept.count++)
        kept.actions[kept.count] = asked->lpsaActions[kept.count];
    (void)RegSetValueExW(key, actions_value, 0, REG_BINARY, (const BYTE *)&kept,
                         ACTIONS_AT + kept.count * (DWORD)sizeof(SC_ACTION));
}

static BOOL WINAPI change(SC_HANDLE service, DWORD level, void *asked) {
    BOOL ours =
        level == SERVICE_CONFIG_FAILURE_ACTIONS || level == SERVICE_CONFIG_FAILURE_ACTIONS_FLAG;
    HKEY key = ours ? key_of(service, KEY_SET_VALUE) : NULL;
    DWORD on;

    if (!key)
        return wine_change(service, level, asked);
    if (level == SERVICE_CONFIG_FAILURE_ACTIONS) {
        keep_actions(key, asked);
    } else {
        on = ((SERVICE_FAILURE_ACTIONS_FLAG *)asked)->fFailureActionsOnNonCrashFailures != 0;
        (void)RegSetValueExW(key, flag_value, 0, REG_DWORD, (const BYTE *)&on, sizeof on);
    }
    RegCloseKey(key);
    return TRUE;
}

/* Of a service that was never told, there are no actions. */
static void actions_read(HKEY key, SERVICE_FAILURE_ACTIONSW *ret) {
    struct kept kept = {0};
    DWORD size = sizeof kept;

    if (RegQueryValueExW(key, actions_value, NULL, NULL, (BYTE *)&kept, &size) ||
        kept.count > ACTIONS_MAX)
        kept = (struct kept){0};
    *ret = (SERVICE_FAILURE_ACTIONSW){.dwResetPeriod = kept.reset_period, .cActions = kept.count};
    if (kept.count)
        ret->lpsaActions = memcpy(ret + 1, kept.actions, kept.count * sizeof *kept.actions);
}

static BOOL WINAPI query(SC_HANDLE service, DWORD level, BYTE *ret, DWORD size, DWORD *needed) {
    BOOL flag = level == SERVICE_CONFIG_FAILURE_ACTIONS_FLAG;
    DWORD wanted = flag ? sizeof(SERVICE_FAILURE_ACTIONS_FLAG)
                        : sizeof(SERVICE_FAILURE_ACTIONSW) + sizeof((struct kept *)0)->actions;
    DWORD on = 0, bytes = sizeof on;
    HKEY key;

    if (level != SERVICE_CONFIG_FAILURE_ACTIONS && !flag)
        return wine_query(service, level, ret, size, needed);
    *needed = wanted;
    if (size < wanted) {
        SetLastError(ERROR_INSUFFICIENT_BUFFER);
        return FALSE;
    }
    key = key_of(service, KEY_QUERY_VALUE);
    if (!key)
        return FALSE;
    if (flag) {
        (void)RegQueryValueExW(key, flag_value, NULL, NULL, (BYTE *)&on, &bytes);
        ((SERVICE_FAILURE_ACTIONS_FLAG *)(void *)ret)->fFailureActionsOnNonCrashFailures = on != 0;
    } else {
        actions_read(key, (SERVICE_FAILURE_ACTIONSW *)(void *)ret);
    }
    RegCloseKey(key);
    return TRUE;
}

void recovery_repair(void) {
    HMODULE services = GetModuleHandleW(L"advapi32.dll");

    if (!services)
        return;
    wine_change = import_replace(services, "ChangeServiceConfig2W", (void *)change);
    wine_query = import_replace(services, "QueryServiceConfig2W", (void *)query);
}
