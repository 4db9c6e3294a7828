/* Collects facts about this Windows: version, features, memory and pending restarts. */
#include "host/win32/win32.h"

/* Declarations of dismapi.h, which mingw does not have. */
enum { DISM_LOG_ERRORS = 0, DISM_PACKAGE_NONE = 0, DISM_STATE_INSTALLED = 4 };
#define DISM_ONLINE_IMAGE L"DISM_{53BFAE52-B167-4E2F-A258-0A37B57FF845}"
#pragma pack(push, 1) /* The structures in dismapi.h are packed. */
struct dism_feature_info {
    const wchar_t *name;
    int state;
    const wchar_t *display_name, *description;
    int restart_required;
    void *custom_property;
    UINT custom_property_count;
};
#pragma pack(pop)

typedef HRESULT(WINAPI *dism_initialize)(int, const wchar_t *, const wchar_t *);
typedef HRESULT(WINAPI *dism_open)(const wchar_t *, const wchar_t *, const wchar_t *, UINT *);
typedef HRESULT(WINAPI *dism_feature)(UINT, const wchar_t *, const wchar_t *, int,
                                      struct dism_feature_info **);
typedef HRESULT(WINAPI *dism_delete)(void *);
typedef HRESULT(WINAPI *dism_close)(UINT);
typedef HRESULT(WINAPI *dism_shutdown)(void);

/* Is the Containers feature installed? Checks the services that come with it, then DISM's API.
 * Returns 1 when installed, 0 when not, -1 when unknown. */
static int containers_feature(void) {
    static const wchar_t *const services[] = {L"hns", L"vmcompute"};
    dism_initialize initialize = (dism_initialize)win32_function(L"dismapi.dll", "DismInitialize");
    dism_open open = (dism_open)win32_function(L"dismapi.dll", "DismOpenSession");
    dism_feature feature = (dism_feature)win32_function(L"dismapi.dll", "DismGetFeatureInfo");
    dism_delete drop = (dism_delete)win32_function(L"dismapi.dll", "DismDelete");
    dism_close close = (dism_close)win32_function(L"dismapi.dll", "DismCloseSession");
    dism_shutdown shutdown_api = (dism_shutdown)win32_function(L"dismapi.dll", "DismShutdown");
    struct dism_feature_info *info = NULL;
    UINT session = 0;
    SC_HANDLE manager = OpenSCManagerW(NULL, NULL, SC_MANAGER_CONNECT);
    bool there = manager != NULL;
    int answer = -1;

    for (size_t i = 0; i < ARRAY_SIZE(services) && there; i++) {
        SC_HANDLE service = OpenServiceW(manager, services[i], SERVICE_QUERY_STATUS);

        there = service != NULL;
        if (service)
            CloseServiceHandle(service);
    }
    if (manager)
        CloseServiceHandle(manager);
    if (there)
        /* DISM takes seconds and is not needed: the two services exist only with the feature. */
        return 1;
    if (!initialize || !open || !feature || !drop || !close || !shutdown_api ||
        FAILED(initialize(DISM_LOG_ERRORS, NULL, NULL)))
        return -1;
    if (SUCCEEDED(open(DISM_ONLINE_IMAGE, NULL, NULL, &session))) {
        if (SUCCEEDED(feature(session, L"Containers", NULL, DISM_PACKAGE_NONE, &info)) && info) {
            answer = info->state == DISM_STATE_INSTALLED;
            (void)drop(info);
        }
        (void)close(session);
    }
    (void)shutdown_api();
    return answer;
}

enum { ARCHITECTURE_ARM64 = 12 }; /* PROCESSOR_ARCHITECTURE_ARM64, which not every winnt.h has. */

#define VERSION_KEY "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion"

static void read_text(const char *value, char *out, size_t size) {
    _cleanup_(freep) char *text = NULL;

    if (win32_registry_get(NULL, VERSION_KEY, value, false, &text, NULL) == 0)
        (void)text_format(out, size, "%s", text); /* A value that is too long is left empty. */
}

static unsigned read_number(const char *value) {
    _cleanup_(freep) char *text = NULL;
    long long number = 0;

    /* `number` stays 0 when the text is not a number. */
    if (win32_registry_get(NULL, VERSION_KEY, value, false, &text, NULL) == 0)
        (void)text_to_number(text, 0, 0x7fffffff, &number);
    return (unsigned)number;
}

/* Checks the servicing stack, Windows Update, and files that will be replaced at the next start.
 * Returns 1 when a restart is pending, 0 when not, -1 when unknown. */
static int is_restart_pending(void) {
    static const wchar_t *const keys[] = {
        L"SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\Component Based Servicing\\RebootPending",
        L"SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\WindowsUpdate\\Auto Update\\RebootRequired",
    };
    LSTATUS codes[ARRAY_SIZE(keys) + 1];
    DWORD size = 0;
    int answer = 0;
    HKEY key;

    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        codes[i] = RegOpenKeyExW(HKEY_LOCAL_MACHINE, keys[i], 0, KEY_QUERY_VALUE, &key);
        if (!codes[i])
            RegCloseKey(key);
    }
    codes[ARRAY_SIZE(keys)] =
        RegGetValueW(HKEY_LOCAL_MACHINE, L"SYSTEM\\CurrentControlSet\\Control\\Session Manager",
                     L"PendingFileRenameOperations", RRF_RT_REG_MULTI_SZ, NULL, NULL, &size);
    for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
        if (!codes[i] && (i < ARRAY_SIZE(keys) || size > 2 * sizeof(wchar_t)))
            return 1;
        if (codes[i] && codes[i] != ERROR_FILE_NOT_FOUND && codes[i] != ERROR_PATH_NOT_FOUND)
            answer = -1;
    }
    return answer;
}

int win32_facts(struct host *, struct host_facts *ret, struct error *err) {
    MEMORYSTATUSEX memory = {.dwLength = sizeof memory};
    TOKEN_ELEVATION elevation = {0};
    SYSTEM_INFO system;
    wchar_t wide[256];
    DWORD size = ARRAY_SIZE(wide);
    _cleanup_(freep) char *name = NULL;

    /* Use the DNS host name, as Go's os.Hostname and so kubelet do. The NetBIOS name would be cut
     * at 15 characters. */
    if (!GetComputerNameExW(ComputerNamePhysicalDnsHostname, wide, &size))
        return win32_fail(err, GetLastError(), "read the host's name");
    name = win32_narrow(wide);
    /* The name always fits, because Windows allows 63 characters. */
    (void)text_format(ret->host_name, sizeof ret->host_name, "%s", name);
    read_text("ProductName", ret->product, sizeof ret->product);
    read_text("InstallationType", ret->installation_type, sizeof ret->installation_type);
    /* CurrentBuildNumber is text in the registry. A build of 0 means unknown. */
    ret->build = read_number("CurrentBuildNumber");
    ret->major = read_number("CurrentMajorVersionNumber");
    ret->minor = read_number("CurrentMinorVersionNumber");
    ret->revision = read_number("UBR");
    GetNativeSystemInfo(&system);
    (void)text_format(ret->architecture, sizeof ret->architecture, "%s",
                      system.wProcessorArchitecture == PROCESSOR_ARCHITECTURE_AMD64   ? "amd64"
                      : system.wProcessorArchitecture == PROCESSOR_ARCHITECTURE_INTEL ? "386"
                      : system.wProcessorArchitecture == ARCHITECTURE_ARM64           ? "arm64"
                                                                                      : "unknown");
    ret->elevated = GetTokenInformation(GetCurrentProcessToken(), TokenElevation, &elevation,
                                        sizeof elevation, &size) &&
                    elevation.TokenIsElevated;
    if (GlobalMemoryStatusEx(&memory)) {
        ret->memory_bytes = memory.ullTotalPhys;
        /* ullTotalPageFile is the commit limit: memory and page files together. */
        if (memory.ullTotalPageFile > memory.ullTotalPhys)
            ret->page_file_bytes = memory.ullTotalPageFile - memory.ullTotalPhys;
    }
    ret->containers_feature = containers_feature();
    ret->restart_pending = is_restart_pending();
    ret->uptime_seconds = GetTickCount64() / 1000;
    return 0;
}
