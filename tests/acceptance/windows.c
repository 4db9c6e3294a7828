/* What Windows itself says, asked without the product's own code. */
#include <stdlib.h>
#include <string.h>

#include <windows.h>

#include <aclapi.h>
#include <sddl.h>
#include <winsvc.h>

#include "base/memory.h"
#include "tests/acceptance/acceptance.h"

int kit_run(struct kit *kit, struct finding *f, unsigned seconds, char **ret_said,
            const char *const *argv) {
    const struct host_process process = {
        .argv = argv, .timeout_ms = seconds * 1000, .with_errors = true};
    struct error err = {0};
    int code = 0;

    if (host_run(kit->host, &process, &code, ret_said, &err) == 0)
        return code;
    finding_fail(f, "%s", err.message);
    *ret_said = xstrdup("");
    return -1;
}

/* The access list as SDDL; NULL with a failed finding. The caller frees. */
static char *access_list(const char *path, struct finding *f) {
    PSECURITY_DESCRIPTOR descriptor = NULL;
    char *text = NULL, *ret = NULL;
    DWORD code =
        GetNamedSecurityInfoA((char *)(size_t)path, SE_FILE_OBJECT, DACL_SECURITY_INFORMATION, NULL,
                              NULL, NULL, NULL, &descriptor);

    if (code != ERROR_SUCCESS)
        finding_fail(f, "%s: its access list cannot be read (%lu)", path, code);
    else if (!ConvertSecurityDescriptorToStringSecurityDescriptorA(
                 descriptor, SDDL_REVISION_1, DACL_SECURITY_INFORMATION, &text, NULL))
        finding_fail(f, "%s: its access list is not text (%lu)", path, GetLastError());
    else
        ret = xstrdup(text);
    LocalFree(text);
    LocalFree(descriptor);
    return ret;
}

/* Wine keeps the owner in the place of the administrators and does not protect the list. */
void kit_expect_secret(const struct kit *kit, const char *path, struct finding *f) {
    bool folder = host_file_type(kit->host, path) == HOST_FOLDER;
    const char *wanted = folder ? SECRET_FOLDER : SECRET;
    _cleanup_(freep) char *sddl = access_list(path, f);
    const char *others = sddl ? strstr(sddl, "(A;") : NULL;
    unsigned owners = 0;

    for (; others; others = strstr(others + 1, "(A;"))
        owners++;
    if (sddl && (kit->wine ? owners != 2 || !strstr(sddl, ";FA;;;SY)") : strcmp(sddl, wanted) != 0))
        finding_fail(f, "%s: %s", path, sddl);
    else if (sddl)
        finding_note(f, "%s", path);
}

/* Wine knows modes alone: everybody has what the mode gives to others. */
static bool others_write(const char *sddl) {
    return strstr(sddl, ";;;WD)") && !strstr(sddl, ";0x1200a9;;;WD)");
}

void kit_expect_programs(const struct kit *kit, const char *path, struct finding *f) {
    _cleanup_(freep) char *sddl = access_list(path, f);

    if (sddl && (kit->wine ? others_write(sddl) : strcmp(sddl, PROGRAMS) != 0))
        finding_fail(f, "%s: %s", path, sddl);
    else if (sddl)
        finding_note(f, "%s: %s", path, sddl);
}

void kit_expect_mailbox(const struct kit *kit, const char *path, struct finding *f) {
    _cleanup_(freep) char *sddl = access_list(path, f);

    (void)kit;
    if (sddl && strcmp(sddl, MAILBOX) != 0)
        finding_fail(f, "%s: %s", path, sddl);
}

/* A value of the registry is a rule, "v2.30|Action=Allow|Active=TRUE|Dir=In|Protocol=6|...": the
 * same in every language, unlike what netsh prints. */
void kit_expect_rule(struct kit *kit, const char *name, struct finding *f) {
    static const char *const parts[] = {"|Action=Allow|", "|Active=TRUE|", "|Dir=In|",
                                        "|Protocol=6|", "|LPort=10250|"};
    _cleanup_(freep) char *said = NULL, *wanted = xasprintf("|Name=%s|", name);
    struct text_list lines = {0};
    const char *rule = NULL;

    (void)kit_run(kit, f, 60, &said,
                  (const char *const[]){"C:\\Windows\\System32\\reg.exe", "query",
                                        "HKLM\\SYSTEM\\CurrentControlSet\\Services\\SharedAccess\\"
                                        "Parameters\\FirewallPolicy\\FirewallRules",
                                        NULL});
    text_list_split(&lines, said, '\n');
    for (size_t i = 0; i < lines.count; i++)
        rule = strstr(lines.items[i], wanted) ? lines.items[i] : rule;
    if (!rule)
        finding_fail(f, "no rule `%s`", name);
    for (size_t i = 0; rule && i < ARRAY_SIZE(parts); i++)
        if (!strstr(rule, parts[i]))
            finding_fail(f, "not %s: %s", parts[i], rule);
    text_list_free(&lines);
}

static void *service_config(const char *service, DWORD level, struct finding *f) {
    SC_HANDLE manager = OpenSCManagerW(NULL, NULL, SC_MANAGER_CONNECT);
    SC_HANDLE handle = manager ? OpenServiceA(manager, service, SERVICE_QUERY_CONFIG) : NULL;
    DWORD size = 8192;
    void *config = xcalloc(1, size);

    if (!handle || !QueryServiceConfig2W(handle, level, config, size, &size)) {
        finding_fail(f, "service %s cannot be asked (%lu)", service, GetLastError());
        free(config);
        config = NULL;
    }
    if (handle)
        CloseServiceHandle(handle);
    if (manager)
        CloseServiceHandle(manager);
    return config;
}

void kit_recovery(const char *service, struct finding *f) {
    SERVICE_FAILURE_ACTIONSW *actions = service_config(service, SERVICE_CONFIG_FAILURE_ACTIONS, f);
    SERVICE_FAILURE_ACTIONS_FLAG *flag =
        service_config(service, SERVICE_CONFIG_FAILURE_ACTIONS_FLAG, f);
    unsigned restarts = 0;

    for (DWORD i = 0; actions && i < actions->cActions; i++)
        restarts += actions->lpsaActions[i].Type == SC_ACTION_RESTART;
    if (actions && restarts < 3)
        finding_fail(f, "%s: %u restarts", service, restarts);
    if (flag && !flag->fFailureActionsOnNonCrashFailures)
        finding_fail(f, "%s: not after an exit that is no crash", service);
    if (actions && flag && f->outcome == ROW_PASS)
        finding_note(f, "%s: %u restarts", service, restarts);
    free(actions);
    free(flag);
}
