/* pdh.dll for Wine: every performance counter has one constant value. Who needs it: kubelet's node
 * statistics, which do not start without counters. */
#include <windows.h>

#include <string.h>

enum { COUNTERS = 64 };
static const DWORD more_data = 0x800007D2; /* PDH_MORE_DATA */
static const WCHAR instance[] = L"Ethernet";

struct counter {
    double value;
};
/* PDH_FMT_COUNTERVALUE and PDH_FMT_COUNTERVALUE_ITEM_W */
struct value {
    DWORD status;
    double number;
};
struct item {
    WCHAR *name;
    struct value value;
};
static struct counter counters[COUNTERS];
static LONG used;

LONG WINAPI rig_PdhOpenQuery(const void *source, DWORD_PTR user, HANDLE *query) {
    (void)source, (void)user;
    *query = (HANDLE)counters;
    return ERROR_SUCCESS;
}

LONG WINAPI rig_PdhAddCounterW(HANDLE query, const WCHAR *path, DWORD_PTR user, HANDLE *counter) {
    LONG i = InterlockedIncrement(&used) - 1;

    (void)query, (void)user;
    if (i >= COUNTERS)
        i = COUNTERS - 1;
    /* a few per cent of processor time, 256 MB of everything that is counted in bytes */
    counters[i].value = path && wcschr(path, L'%') ? 5.0 : 268435456.0;
    *counter = (HANDLE)&counters[i];
    return ERROR_SUCCESS;
}

LONG WINAPI rig_PdhWithQuery(HANDLE query) {
    (void)query;
    return ERROR_SUCCESS;
}

LONG WINAPI rig_PdhValidatePathW(const WCHAR *path) {
    (void)path;
    return ERROR_SUCCESS;
}

LONG WINAPI rig_PdhGetFormattedCounterValue(HANDLE handle, DWORD format, DWORD *type,
                                            struct value *ret) {
    (void)format;
    if (type)
        *type = 0;
    ret->status = 0;
    ret->number = ((struct counter *)handle)->value;
    return ERROR_SUCCESS;
}

/* Asked twice: first for the size. */
LONG WINAPI rig_PdhGetFormattedCounterArrayW(HANDLE handle, DWORD format, DWORD *size, DWORD *count,
                                             struct item *ret) {
    DWORD need = sizeof(*ret) + sizeof(instance);

    (void)format;
    *count = 1;
    if (*size < need) {
        *size = need;
        return (LONG)more_data;
    }
    ret->name = memcpy(ret + 1, instance, sizeof(instance));
    return rig_PdhGetFormattedCounterValue(handle, format, NULL, &ret->value);
}
