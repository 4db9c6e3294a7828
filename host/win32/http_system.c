/* What Windows says about proxies and trust for the whole machine. */
#include "host/win32/win32.h"

#include "host/http_ops.h"

/* WINHTTP_PROXY_INFO and WINHTTP_ACCESS_TYPE_NAMED_PROXY (winhttp.h, which cannot stand beside
 * wininet.h and is not needed for more). */
struct proxy_info {
    DWORD access_type;
    LPWSTR proxy;
    LPWSTR bypass;
};
enum { NAMED_PROXY = 3 };
typedef BOOL(WINAPI *get_default_proxy)(struct proxy_info *);

bool http_system_proxy(char **ret_proxy, char **ret_bypass) {
    get_default_proxy ask = (get_default_proxy)(uintptr_t)win32_function(
        L"winhttp.dll", "WinHttpGetDefaultProxyConfiguration");
    struct proxy_info info = {0};
    bool named;

    if (!ask || !ask(&info))
        return false;
    named = info.access_type == NAMED_PROXY && info.proxy && *info.proxy;
    if (named) {
        *ret_proxy = win32_narrow(info.proxy);
        *ret_bypass = info.bypass ? win32_narrow(info.bypass) : NULL;
    }
    GlobalFree(info.proxy); /* NULL is allowed */
    GlobalFree(info.bypass);
    return named;
}

char *http_system_roots(void) {
    return NULL; /* the machine's store is all there is (http_roots.c) */
}
