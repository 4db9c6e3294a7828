/* Writes and reads a service's configuration in the Service Control Manager (SCM). */
#include "host/win32/win32.h"

#include "base/log.h"

#define SERVICES_KEY "SYSTEM\\CurrentControlSet\\Services\\"
enum { CONFIG_MAX = 8192 }; /* The limit of QueryServiceConfig itself. */

/* Returns a list as "a\0b\0\0". The caller frees it. */
static wchar_t *multi_text(const struct text_list *list, DWORD *ret_bytes) {
    wchar_t *all = xcalloc(2, sizeof *all);
    size_t units = 0;

    for (size_t i = 0; i < list->count; i++) {
        _cleanup_wide_ wchar_t *item = win32_wide(list->items[i]);
        size_t len = wcslen(item) + 1;

        all = xrealloc(all, (units + len + 2) * sizeof *all);
        memcpy(all + units, item, len * sizeof *all);
        units += len;
        all[units] = all[units + 1] = L'\0';
    }
    *ret_bytes = (DWORD)((units + 1) * sizeof *all);
    return all;
}

static int set_environment(const struct host_service *service, struct error *err) {
    _cleanup_(freep) char *path = xasprintf(SERVICES_KEY "%s", service->name);
    _cleanup_wide_ wchar_t *wide = win32_wide(path);
    _cleanup_wide_ wchar_t *value = NULL;
    DWORD bytes = 0;
    HKEY key;
    LSTATUS code = RegOpenKeyExW(HKEY_LOCAL_MACHINE, wide, 0, KEY_SET_VALUE, &key);

    if (code)
        return win32_fail(err, (DWORD)code, "open the registry key of service '%s'", service->name);
    value = multi_text(&service->environment, &bytes);
    if (service->environment.count) {
        code = RegSetValueExW(key, L"Environment", 0, REG_MULTI_SZ, (const BYTE *)value, bytes);
    } else {
        code = RegDeleteValueW(key, L"Environment");
        code = code == ERROR_FILE_NOT_FOUND ? 0 : code;
    }
    RegCloseKey(key);
    return code ? win32_fail(err, (DWORD)code, "set the environment of service '%s'", service->name)
                : 0;
}

/* Reads a list of strings from the service's registry key, where the SCM keeps its settings. */
static void read_list(const char *name, const wchar_t *value_name, struct text_list *ret) {
    _cleanup_(freep) char *path = xasprintf(SERVICES_KEY "%s", name);
    _cleanup_wide_ wchar_t *wide = win32_wide(path);
    _cleanup_wide_ wchar_t *value = NULL;
    DWORD bytes = 0;

    if (RegGetValueW(HKEY_LOCAL_MACHINE, wide, value_name, RRF_RT_REG_MULTI_SZ, NULL, NULL,
                     &bytes) != 0)
        return; /* The service has no such value. */
    value = xcalloc(bytes + 2 * sizeof *value, 1);
    if (RegGetValueW(HKEY_LOCAL_MACHINE, wide, value_name, RRF_RT_REG_MULTI_SZ, NULL, value,
                     &bytes) != 0)
        return;
    for (const wchar_t *item = value; *item; item += wcslen(item) + 1)
        text_list_add_owned(ret, win32_narrow(item));
}

/* Sets a part of the configuration that older Windows may not support. An unknown level is logged
 * and counts as success. */
static int set_optional(SC_HANDLE handle, DWORD level, void *value, const char *what,
                        const char *name, struct error *err) {
    if (ChangeServiceConfig2W(handle, level, value))
        return 0;
    if (GetLastError() != ERROR_INVALID_LEVEL)
        return win32_fail(err, GetLastError(), "set the %s of service '%s'", what, name);
    log_message(LOG_INFO, "service '%s': this Windows does not support %s", name, what);
    return 0;
}

static void *query2(SC_HANDLE service, DWORD what) {
    BYTE *data = xcalloc(CONFIG_MAX, 1);
    DWORD needed;

    if (QueryServiceConfig2W(service, what, data, CONFIG_MAX, &needed))
        return data;
    free(data);
    return NULL;
}

/* Is the restart after an exit with an error code set? `unknown` is the answer when the SCM does
 * not have this setting. */
static bool restarts_on_error(SC_HANDLE service, bool unknown) {
    _cleanup_(freep) SERVICE_FAILURE_ACTIONS_FLAG *flag =
        query2(service, SERVICE_CONFIG_FAILURE_ACTIONS_FLAG);

    return flag ? flag->fFailureActionsOnNonCrashFailures : unknown;
}

/* Sets the failure actions. Zero actions delete existing ones (SERVICE_FAILURE_ACTIONSW). */
static int set_failure_actions(SC_HANDLE handle, const struct host_service *service,
                               struct error *err) {
    SC_ACTION actions[3];
    SERVICE_FAILURE_ACTIONSW failure = {.dwResetPeriod = service->reset_seconds,
                                        .lpRebootMsg = (wchar_t *)L"",
                                        .lpCommand = (wchar_t *)L"",
                                        .lpsaActions = actions};
    SERVICE_FAILURE_ACTIONS_FLAG flag = {service->restart_on_error};

    for (size_t i = 0; i < 3; i++) {
        unsigned delay = service->restart_delays_ms[i];

        failure.cActions = delay ? 3 : failure.cActions;
        actions[i] = (SC_ACTION){delay ? SC_ACTION_RESTART : SC_ACTION_NONE, delay};
    }
    if (!ChangeServiceConfig2W(handle, SERVICE_CONFIG_FAILURE_ACTIONS, &failure))
        return win32_fail(err, GetLastError(), "set the recovery of service '%s'", service->name);
    if (restarts_on_error(handle, false) == service->restart_on_error)
        return 0;
    return set_optional(handle, SERVICE_CONFIG_FAILURE_ACTIONS_FLAG, &flag,
                        "recovery after an exit with an error code", service->name, err);
}

int win32_service_put(struct host *, const struct host_service *service, struct error *err) {
    const char *shown = service->display_name ? service->display_name : service->name;
    _cleanup_wide_ wchar_t *name = win32_wide(service->name);
    _cleanup_wide_ wchar_t *display = win32_wide(shown);
    _cleanup_wide_ wchar_t *command = win32_wide(service->command);
    DWORD start = service->auto_start ? SERVICE_AUTO_START : SERVICE_DEMAND_START;
    DWORD bytes;
    _cleanup_wide_ wchar_t *needs = multi_text(&service->depends_on, &bytes);
    _cleanup_wide_ wchar_t *text = win32_wide(service->description ? service->description : "");
    SERVICE_DESCRIPTIONW description = {text};
    SERVICE_PRESHUTDOWN_INFO preshutdown = {service->preshutdown_ms};
    _cleanup_service_ SC_HANDLE manager = NULL, handle = NULL;
    BOOL done;

    if (win32_open_manager(SC_MANAGER_CONNECT | SC_MANAGER_CREATE_SERVICE, &manager, err) < 0)
        return error_prefix(err, "register service '%s'", service->name);
    handle = OpenServiceW(manager, name, SERVICE_ALL_ACCESS);
    if (!handle && GetLastError() != ERROR_SERVICE_DOES_NOT_EXIST)
        return win32_fail(err, GetLastError(), "open service '%s'", service->name);
    if (handle) {
        done = ChangeServiceConfigW(handle, SERVICE_WIN32_OWN_PROCESS, start, SERVICE_ERROR_NORMAL,
                                    command, NULL, NULL, needs, L"LocalSystem", NULL, display);
    } else {
        handle = CreateServiceW(manager, name, display, SERVICE_ALL_ACCESS,
                                SERVICE_WIN32_OWN_PROCESS, start, SERVICE_ERROR_NORMAL, command,
                                NULL, NULL, needs, L"LocalSystem", NULL);
        done = handle != NULL;
    }
    if (!done)
        return win32_fail(err, GetLastError(), "register service '%s'", service->name);
    if (!ChangeServiceConfig2W(handle, SERVICE_CONFIG_DESCRIPTION, &description))
        return win32_fail(err, GetLastError(), "describe service '%s'", service->name);
    if (set_failure_actions(handle, service, err) < 0)
        return -1;
    if (service->preshutdown_ms &&
        set_optional(handle, SERVICE_CONFIG_PRESHUTDOWN_INFO, &preshutdown,
                     "the preshutdown timeout", service->name, err) < 0)
        return -1;
    return set_environment(service, err);
}

int win32_service_config(SC_HANDLE service, const char *name, struct host_service *ret,
                         struct error *err) {
    _cleanup_(freep) QUERY_SERVICE_CONFIGW *config = xcalloc(CONFIG_MAX, 1);
    DWORD needed;

    if (!QueryServiceConfigW(service, config, CONFIG_MAX, &needed))
        return win32_fail(err, GetLastError(), "query service '%s'", name);
    if (config->lpDisplayName)
        ret->display_name = win32_narrow(config->lpDisplayName);
    if (config->lpBinaryPathName)
        ret->command = win32_narrow(config->lpBinaryPathName);
    read_list(name, L"DependOnService", &ret->depends_on);
    ret->auto_start = config->dwStartType == SERVICE_AUTO_START;
    _cleanup_(freep) SERVICE_DESCRIPTIONW *description =
        query2(service, SERVICE_CONFIG_DESCRIPTION);
    _cleanup_(freep) SERVICE_FAILURE_ACTIONSW *failure =
        query2(service, SERVICE_CONFIG_FAILURE_ACTIONS);
    _cleanup_(freep) SERVICE_PRESHUTDOWN_INFO *preshutdown =
        query2(service, SERVICE_CONFIG_PRESHUTDOWN_INFO);

    if (description && description->lpDescription)
        ret->description = win32_narrow(description->lpDescription);
    if (failure) {
        ret->reset_seconds = failure->dwResetPeriod;
        for (DWORD i = 0; i < failure->cActions && i < 3; i++)
            if (failure->lpsaActions[i].Type == SC_ACTION_RESTART)
                ret->restart_delays_ms[i] = failure->lpsaActions[i].Delay;
    }
    ret->restart_on_error = restarts_on_error(service, true);
    if (preshutdown)
        ret->preshutdown_ms = preshutdown->dwPreshutdownTimeout;
    read_list(name, L"Environment", &ret->environment);
    return 0;
}
