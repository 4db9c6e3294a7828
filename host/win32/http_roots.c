/* Whom Windows trusts for everybody: the machine's store of roots, with those of group policies and
 * of the enterprise. The store that each user can fill is not asked. */
#include "host/win32/win32.h"

#include <wincrypt.h>

#include "host/http_ops.h"

/* Behind <wincrypt.h>, whose names it takes back. */
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

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

/* One that OpenSSL cannot read is left out: libcurl would take none of the others. */
static void add(BIO *pem, PCCERT_CONTEXT certificate) {
    const unsigned char *der = certificate->pbCertEncoded;
    X509 *read =
        is_for_servers(certificate) ? d2i_X509(NULL, &der, (long)certificate->cbCertEncoded) : NULL;

    if (read && !PEM_write_bio_X509(pem, read))
        abort(); /* out of memory */
    X509_free(read);
    ERR_clear_error();
}

char *http_machine_roots(void) {
    HCERTSTORE store = CertOpenStore(CERT_STORE_PROV_SYSTEM_W, 0, 0,
                                     CERT_SYSTEM_STORE_LOCAL_MACHINE |
                                         CERT_STORE_OPEN_EXISTING_FLAG | CERT_STORE_READONLY_FLAG,
                                     L"ROOT");
    PCCERT_CONTEXT certificate = NULL;
    BIO *pem = BIO_new(BIO_s_mem());
    char *data = NULL, *ret;
    long len;

    if (!pem)
        abort(); /* out of memory */
    while (store && (certificate = CertEnumCertificatesInStore(store, certificate)) != NULL)
        add(pem, certificate);
    len = BIO_get_mem_data(pem, &data);
    ret = xstrndup(len > 0 ? data : "", len > 0 ? (size_t)len : 0);
    BIO_free(pem);
    if (store)
        CertCloseStore(store, 0);
    return ret;
}
