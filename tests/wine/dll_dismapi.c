/* dismapi.dll for Wine, which has none: every optional feature of the played Server is enabled, but
 * for Containers where a test says so in the registry. Who needs it: winjoin's preflight. */
#include <windows.h>

/* dismapi.h packs its structures by one; these are the documented ones as far as they are read. */
#pragma pack(push, 1)
struct dism_feature_info {
    const WCHAR *feature_name;
    int feature_state;
    const WCHAR *display_name, *description;
    int restart_required;
    void *custom_property;
    UINT custom_property_count;
};
#pragma pack(pop)

enum { DISM_STATE_INSTALLED = 4 };

HRESULT WINAPI DismInitialize(int level, const WCHAR *log, const WCHAR *scratch) {
    (void)level, (void)log, (void)scratch;
    return S_OK;
}

HRESULT WINAPI DismShutdown(void) {
    return S_OK;
}

HRESULT WINAPI DismOpenSession(const WCHAR *image, const WCHAR *windows, const WCHAR *drive,
                               UINT *session) {
    (void)image, (void)windows, (void)drive;
    *session = 1;
    return S_OK;
}

HRESULT WINAPI DismCloseSession(UINT session) {
    (void)session;
    return S_OK;
}

HRESULT WINAPI DismGetFeatureInfo(UINT session, const WCHAR *name, const WCHAR *package, int kind,
                                  struct dism_feature_info **info) {
    struct dism_feature_info *out = HeapAlloc(GetProcessHeap(), HEAP_ZERO_MEMORY, sizeof(*out));
    DWORD on = 1, size = sizeof on;

    (void)session, (void)package, (void)kind;
    if (!out)
        return E_OUTOFMEMORY;
    out->feature_name = out->display_name = out->description = name;
    (void)RegGetValueW(HKEY_LOCAL_MACHINE, L"SOFTWARE\\winjoin-rig", name, RRF_RT_REG_DWORD, NULL,
                       &on, &size);
    out->feature_state = on ? DISM_STATE_INSTALLED : 0;
    *info = out;
    return S_OK;
}

HRESULT WINAPI DismDelete(void *structure) {
    HeapFree(GetProcessHeap(), 0, structure);
    return S_OK;
}
