/* machine root FILE | machine user-root FILE | machine proxy PROXY BYPASS | machine proxy: puts a
 * certificate (PEM) among this machine's roots or this user's, or sets its WinHTTP proxy, as is
 * done with certutil [-user] -addstore Root and netsh winhttp set proxy. Who needs it: the test
 * where winjoin.exe looks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <windows.h>

#include <wincrypt.h>
#include <winhttp.h>

enum { PEM_MAX = 65536 };

static int fail(const char *what) {
    (void)fprintf(stderr, "machine: %s: error %lu\n", what, GetLastError());
    return 1;
}

static int add_root(const wchar_t *path, DWORD whose) {
    static char pem[PEM_MAX];
    static BYTE der[PEM_MAX];
    DWORD der_len = sizeof der;
    HCERTSTORE store;
    FILE *file = _wfopen(path, L"rb");
    size_t len = file ? fread(pem, 1, sizeof pem - 1, file) : 0;

    if (file)
        (void)fclose(file);
    if (!CryptStringToBinaryA(pem, (DWORD)len, CRYPT_STRING_BASE64HEADER, der, &der_len, NULL,
                              NULL))
        return fail("read the certificate");
    store = CertOpenStore(CERT_STORE_PROV_SYSTEM_W, 0, 0, whose, L"ROOT");
    if (!store)
        return fail("open the store");
    if (!CertAddEncodedCertificateToStore(store, X509_ASN_ENCODING, der, der_len,
                                          CERT_STORE_ADD_REPLACE_EXISTING, NULL))
        return fail("add the certificate");
    return CertCloseStore(store, 0) ? 0 : fail("close the store");
}

static int set_proxy(wchar_t *proxy, wchar_t *bypass) {
    WINHTTP_PROXY_INFO info = {
        proxy ? WINHTTP_ACCESS_TYPE_NAMED_PROXY : WINHTTP_ACCESS_TYPE_NO_PROXY, proxy, bypass};

    return WinHttpSetDefaultProxyConfiguration(&info) ? 0 : fail("set the proxy");
}

int wmain(int argc, wchar_t **argv) {
    if (argc == 3 && wcscmp(argv[1], L"root") == 0)
        return add_root(argv[2], CERT_SYSTEM_STORE_LOCAL_MACHINE);
    if (argc == 3 && wcscmp(argv[1], L"user-root") == 0)
        return add_root(argv[2], CERT_SYSTEM_STORE_CURRENT_USER);
    if (argc >= 2 && wcscmp(argv[1], L"proxy") == 0)
        return set_proxy(argc > 2 ? argv[2] : NULL, argc > 3 ? argv[3] : NULL);
    (void)fprintf(stderr,
                  "machine root FILE | machine user-root FILE | machine proxy [PROXY [BYPASS]]\n");
    return 2;
}
