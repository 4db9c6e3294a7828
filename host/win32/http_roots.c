/* Whom Windows trusts for everybody: the machine's store of roots, with those of group policies and
 * of the enterprise. The store that each user can fill is not asked. */
#include "host/win32/win32.h"

#include <wincrypt.h>

#include "host/http_ops.h"

/* An administrator can say of a root what it is for, beside what it says itself. */
static bool is_for_servers(PCCERT_CONTEXT certificate) {
    _cleanup_(freep) CERT_ENHKEY_USAGE *uses = NULL;
    DWORD size = 0;

    if (!CertGetEnhancedKeyUsage(certificate, 0, NULL, &size))
        return false;
    uses = xcalloc(1, size);
    if (!CertGetEnhancedKeyUsage(certificate, 0, uses, &size))
        return false;
    if (!uses->cUsageIdentifier) /* for everything, or for nothing */
        return GetLastError() == (DWORD)CRYPT_E_NOT_FOUND;
    for (DWORD i = 0; i < uses->cUsageIdentifier; i++)
        if (strcmp(uses->rgpszUsageIdentifier[i], szOID_PKIX_KP_SERVER_AUTH) == 0)
            return true;
    return false;
}

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
