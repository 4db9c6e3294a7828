/* Reads Windows' machine-wide settings for proxies and trusted roots. */
#include "host/win32/win32.h"

#include <wincrypt.h>

#include "host/host_ops.h"

/* Copies of WINHTTP_PROXY_INFO and WINHTTP_ACCESS_TYPE_NAMED_PROXY from winhttp.h, which cannot be
 * included together with wininet.h. */
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
    GlobalFree(info.proxy); /* GlobalFree() accepts NULL. */
    GlobalFree(info.bypass);
    return named;
}

char *http_system_roots(void) {
    return NULL; /* Windows has only the machine's store (http_machine_roots()). */
}

/* May this root certify servers? An administrator can restrict the use of a root in addition to the
 * certificate's own usage. */
static bool is_for_servers(PCCERT_CONTEXT certificate) {
    _cleanup_(freep) CERT_ENHKEY_USAGE *uses = NULL;
    DWORD size = 0;

    if (!CertGetEnhancedKeyUsage(certificate, 0, NULL, &size))
        return false;
    uses = xcalloc(1, size);
    if (!CertGetEnhancedKeyUsage(certificate, 0, uses, &size))
        return false;
    if (!uses->cUsageIdentifier) /* No listed usage means every usage (CRYPT_E_NOT_FOUND) or none.
                                  */
        return GetLastError() == (DWORD)CRYPT_E_NOT_FOUND;
    for (DWORD i = 0; i < uses->cUsageIdentifier; i++)
        if (strcmp(uses->rgpszUsageIdentifier[i], szOID_PKIX_KP_SERVER_AUTH) == 0)
            return true;
    return false;
}

/* Reads the machine's root store, which includes roots from group policies and the enterprise. The
 * user's own store is not used, because each user can change it. */
void http_machine_roots(void (*take)(void *, const unsigned char *, size_t), void *context) {
    HCERTSTORE store = CertOpenStore(CERT_STORE_PROV_SYSTEM_W, 0, 0,
                                     CERT_SYSTEM_STORE_LOCAL_MACHINE |
                                         CERT_STORE_OPEN_EXISTING_FLAG | CERT_STORE_READONLY_FLAG,
                                     L"ROOT");
    PCCERT_CONTEXT certificate = NULL;

    if (!store)
        return;
    while ((certificate = CertEnumCertificatesInStore(store, certificate)) != NULL)
        if (is_for_servers(certificate))
            take(context, certificate->pbCertEncoded, certificate->cbCertEncoded);
    CertCloseStore(store, 0);
}
