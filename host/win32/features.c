/* Whether the Containers feature is installed, by DISM's API (dismapi.h), or by the services that
 * it brings where DISM is not at hand. */
#include "host/win32/win32.h"

/* Of dismapi.h, which mingw lacks. */
enum { DISM_LOG_ERRORS = 0, DISM_PACKAGE_NONE = 0, DISM_STATE_INSTALLED = 4 };
#define DISM_ONLINE_IMAGE L"DISM_{53BFAE52-B167-4E2F-A258-0A37B57FF845}"
#pragma pack(push, 1) /* dismapi.h packs its structures */
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

static int ask_dism(void) {
    dism_initialize initialize = (dism_initialize)win32_function(L"dismapi.dll", "DismInitialize");
    dism_open open = (dism_open)win32_function(L"dismapi.dll", "DismOpenSession");
    dism_feature feature = (dism_feature)win32_function(L"dismapi.dll", "DismGetFeatureInfo");
    dism_delete drop = (dism_delete)win32_function(L"dismapi.dll", "DismDelete");
    dism_close close = (dism_close)win32_function(L"dismapi.dll", "DismCloseSession");
    dism_shutdown shutdown_api = (dism_shutdown)win32_function(L"dismapi.dll", "DismShutdown");
    struct dism_feature_info *info = NULL;
    UINT session = 0;
    int answer = -1;

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

static bool service_exists(const wchar_t *name) {
    SC_HANDLE manager = OpenSCManagerW(NULL, NULL, SC_MANAGER_CONNECT);
    SC_HANDLE service = manager ? OpenServiceW(manager, name, SERVICE_QUERY_STATUS) : NULL;

    if (service)
        CloseServiceHandle(service);
    if (manager)
        CloseServiceHandle(manager);
    return service != NULL;
}

int win32_containers_feature(void) {
    if (service_exists(L"hns") && service_exists(L"vmcompute"))
        return 1; /* DISM takes seconds; these two come with the feature */
    return ask_dism();
}
