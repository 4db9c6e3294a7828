/* HTTP on libcurl: what its TLS demands of a server, by Go's rules where libcurl's are wider. */
#include <curl/curl.h> /* first: it may bring <windows.h> along (base/error.h) */
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

#include "base/cidr.h"
#include "base/memory.h"
#include "host/http_curl.h"
#include "host/http_ops.h"

enum {
    SECURITY_LEVEL = 2
}; /* RSA of 2048 bits, SHA-2: what Debian demands and Windows' build not */

static struct curl_blob blob_of(const char *pem) {
    return (struct curl_blob){(void *)pem, strlen(pem), CURL_BLOB_COPY};
}

/* "https://[fd00::1]:6443/x" -> "fd00::1"; a dot at the end of a name does not count. */
static char *host_of(const char *url) {
    const char *host = strstr(url, "://") + 3;
    const char *at = host + strcspn(host, "/?#");
    size_t len;

    for (const char *p = host; p < at; p++)
        if (*p == '@')
            host = p + 1;
    if (*host == '[')
        return xstrndup(host + 1, strcspn(host + 1, "]%"));
    len = strcspn(host, ":/?#");
    return xstrndup(host, len > 1 && host[len - 1] == '.' ? len - 1 : len);
}

/* libcurl takes a common name where there is no alternative name, Go does not. Demanded of OpenSSL,
 * a wrong name ends the handshake before the request with its credentials is sent. */
static CURLcode demand_name(CURL *easy, void *ssl_ctx, void *context) {
    X509_VERIFY_PARAM *param = SSL_CTX_get0_param(ssl_ctx);
    const char *name = context;
    struct ip ip;
    int good;

    (void)easy; /* the name says enough */
    SSL_CTX_set_security_level(ssl_ctx, SECURITY_LEVEL);
    X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT |
                                               X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    good = ip_parse(name, &ip, NULL) == 0 ? X509_VERIFY_PARAM_set1_ip_asc(param, name)
                                          : X509_VERIFY_PARAM_set1_host(param, name, 0);
    return good ? CURLE_OK : CURLE_SSL_CONNECT_ERROR;
}

static void set_roots(CURL *easy, const struct http_request *request) {
    _cleanup_(freep) char *file = NULL;
    struct curl_blob ca;

    curl_easy_setopt(easy, CURLOPT_PROXY_SSL_OPTIONS, (long)CURLSSLOPT_NATIVE_CA);
    if (!request->ca_pem) {
        curl_easy_setopt(easy, CURLOPT_SSL_OPTIONS, (long)CURLSSLOPT_NATIVE_CA);
        file = http_system_roots();
        if (file)
            curl_easy_setopt(easy, CURLOPT_CAINFO, file);
        return;
    }
    ca = blob_of(request->ca_pem);
    /* Only these: libcurl's built-in file and folder would be trusted beside them. */
    curl_easy_setopt(easy, CURLOPT_CAINFO, NULL);
    curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &ca);
}

void http_curl_trust(void *easy, const struct http_request *request, char **name) {
    bool full = request->verify == HTTP_VERIFY_FULL;

    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, full ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, full ? 2L : 0L);
    curl_easy_setopt(easy, CURLOPT_CERTINFO, 1L);
    /* A session that nobody verified must never shorten a handshake that verifies. */
    curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, 0L);
    set_roots(easy, request);
    if (full && !request->follow_redirects) { /* a redirect leads to other names */
        *name = request->server_name ? xstrdup(request->server_name) : host_of(request->url);
        curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, demand_name);
        curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, *name);
    }
    if (request->client_cert_pem) {
        struct curl_blob certificate = blob_of(request->client_cert_pem);
        struct curl_blob key = blob_of(request->client_key_pem);

        curl_easy_setopt(easy, CURLOPT_SSLCERT_BLOB, &certificate);
        curl_easy_setopt(easy, CURLOPT_SSLKEY_BLOB, &key);
    }
}

char *http_curl_chain(void *easy) {
    struct curl_certinfo *info = NULL;
    struct text pem = {0};

    if (curl_easy_getinfo(easy, CURLINFO_CERTINFO, &info) != CURLE_OK || !info)
        return NULL;
    for (int i = 0; i < info->num_of_certs; i++)
        for (const struct curl_slist *item = info->certinfo[i]; item; item = item->next)
            if (text_starts_with(item->data, "Cert:"))
                text_addf(&pem, "%s\n", item->data + strlen("Cert:"));
    if (pem.len)
        return text_take(&pem);
    text_free(&pem);
    return NULL;
}
