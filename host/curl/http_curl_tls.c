/* Configures libcurl's TLS: what it offers, and what it requires beyond OpenSSL's rules. */
/* This include comes first, because on Windows it includes <windows.h>, which must precede
 * base/error.h. */
#include <curl/curl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "base/cidr.h"
#include "host/curl/http_curl.h"
#include "host/host_ops.h"

enum {
    SECURITY_LEVEL = 2,  /* OpenSSL's security level 2: RSA of at least 2048 bits, and SHA-2.
                            Debian's OpenSSL has this default; the build for Windows does not. */
    RSA_BITS_MAX = 8192, /* Go has the same limit. Larger keys only cost time. */
    /* Maximum number of messages such as tickets and key updates after the handshake. */
    USELESS_MAX = 32,
};

static struct curl_blob blob_of(const char *pem) {
    return (struct curl_blob){(void *)pem, strlen(pem), CURL_BLOB_COPY};
}

/* Returns the host of a URL: "https://[fd00::1]:6443/x" gives "fd00::1". A dot at the end of a name
 * is removed. The caller frees it. */
static char *host_of(const char *url) {
    struct http_authority parts = http_authority_split(strstr(url, "://") + 3);
    size_t len = (size_t)((parts.port ? parts.port : parts.end) - parts.host);

    if (*parts.host == '[')
        return xstrndup(parts.host + 1, strcspn(parts.host + 1, "]%"));
    return xstrndup(parts.host, len > 1 && parts.host[len - 1] == '.' ? len - 1 : len);
}

/* The same ciphers, signatures and groups as the defaults of Go's crypto/tls. Nothing that Go would
 * refuse is offered. */
static const char ciphers[] =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
    "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:"
    "ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA";
static const char signatures[] =
    "rsa_pss_rsae_sha256:ECDSA+SHA256:ed25519:rsa_pss_rsae_sha384:rsa_pss_rsae_sha512:RSA+SHA256:"
    "RSA+SHA384:RSA+SHA512:ECDSA+SHA384:ECDSA+SHA512";
/* The first list needs OpenSSL 3.5. */
static const char *const groups[] = {"X25519MLKEM768:X25519:P-256:P-384:P-521",
                                     "X25519:P-256:P-384:P-521"};

/* Verifies the server's chain. Refuses, besides what OpenSSL refuses, a chain with a certificate
 * that is not allowed for servers, and a server's key that is too large. */
static int verify(X509_STORE_CTX *context, void *) {
    const STACK_OF(X509) * chain, *sent;
    int why = X509_V_OK;

    if (X509_verify_cert(context) <= 0) {
        /* Clear the error queue: libcurl reports its first entry, which is a detail of the
         * cryptography and not the reason. */
        ERR_clear_error();
        return 0;
    }
    chain = X509_STORE_CTX_get0_chain(context);
    sent = X509_STORE_CTX_get0_untrusted(context);
    for (int i = 0; i < sk_X509_num(chain); i++) {
        uint32_t uses = X509_get_extended_key_usage(sk_X509_value(chain, i));

        if (uses != UINT32_MAX && !(uses & (XKU_SSL_SERVER | XKU_ANYEKU)))
            /* OpenSSL also accepts the old "gated crypto" usage for servers; Go does not. */
            why = X509_V_ERR_INVALID_PURPOSE;
    }
    for (int i = 0; i < sk_X509_num(sent); i++) {
        EVP_PKEY *key = X509_get0_pubkey(sk_X509_value(sent, i));

        if (key && EVP_PKEY_is_a(key, "RSA") && EVP_PKEY_get_bits(key) > RSA_BITS_MAX)
            why = X509_V_ERR_APPLICATION_VERIFICATION;
    }
    if (why != X509_V_OK)
        X509_STORE_CTX_set_error(context, why);
    return why == X509_V_OK;
}

/* Limits the messages after the handshake. A server could send session tickets and key updates
 * without end, which are not data and cost time. Go limits them too. */
static void count_messages(int writing, int, int type, const void *data, size_t len, SSL *ssl,
                           void *) {
    static int index;
    uintptr_t count;

    if (writing || type != SSL3_RT_HANDSHAKE || !len)
        return;
    switch (*(const unsigned char *)data) {
    case SSL3_MT_HELLO_REQUEST:
    case SSL3_MT_NEWSESSION_TICKET:
    case SSL3_MT_KEY_UPDATE:
        break;
    default:
        return;
    }
    if (!index)
        index = SSL_get_ex_new_index(0, NULL, NULL, NULL, NULL);
    count = (uintptr_t)SSL_get_ex_data(ssl, index) + 1;
    /* When memory is exhausted, the message is not counted. */
    (void)SSL_set_ex_data(ssl, index, (void *)count);
    if (count > USELESS_MAX)
        SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
}

/* Sets winjoin's rules for a TLS connection. libcurl calls this for each connection; with a TLS
 * proxy, first for the connection to the proxy. */
static CURLcode set_rules(CURL *, void *ssl_ctx, void *context) {
    X509_VERIFY_PARAM *param = SSL_CTX_get0_param(ssl_ctx);
    struct http_curl_tls *tls = context;
    bool proxy = tls->by_tls_proxy && !tls->proxy_passed;
    struct ip ip;
    int named;

    tls->proxy_passed = proxy;
    tls->begun |= !proxy;
    if (!SSL_CTX_set_cipher_list(ssl_ctx, ciphers) ||
        !SSL_CTX_set1_sigalgs_list(ssl_ctx, signatures) ||
        (!SSL_CTX_set1_groups_list(ssl_ctx, groups[0]) &&
         !SSL_CTX_set1_groups_list(ssl_ctx, groups[1])))
        return CURLE_SSL_CONNECT_ERROR;
    ERR_clear_error(); /* An older OpenSSL does not know the first list of groups. */
    /* An answer without a length ends when the connection ends, also without a TLS close message.
     * Go does the same; libcurl's default depends on its version. */
    (void)SSL_CTX_set_options(ssl_ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_msg_callback(ssl_ctx, count_messages);
    if (!tls->full && !proxy)
        return CURLE_OK;
    SSL_CTX_set_security_level(ssl_ctx, SECURITY_LEVEL);
    (void)X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_POLICY_CHECK);
    SSL_CTX_set_cert_verify_callback(ssl_ctx, verify, NULL);
    if (!tls->name || proxy) /* libcurl verifies the name of the proxy, and of a server that a
                                redirect leads to. */
        return CURLE_OK;

    /* Let OpenSSL check the name. Unlike libcurl, Go does not use the common name when a
     * certificate has no alternative names. A check during the handshake ends the connection before
     * the request with its credentials is sent. */
    X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT |
                                               X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    named = ip_parse(tls->name, &ip, NULL) == 0 ? X509_VERIFY_PARAM_set1_ip_asc(param, tls->name)
                                                : X509_VERIFY_PARAM_set1_host(param, tls->name, 0);
    return named ? CURLE_OK : CURLE_SSL_CONNECT_ERROR;
}

/* Adds one root certificate. A certificate that OpenSSL cannot parse is skipped, because libcurl
 * would then reject the whole list. */
static void add_root(void *pem, const unsigned char *der, size_t len) {
    X509 *root = d2i_X509(NULL, &der, (long)len);

    if (root && !PEM_write_bio_X509(pem, root))
        abort(); /* Writing PEM to memory fails only when memory is exhausted. */
    X509_free(root);
    ERR_clear_error();
}

/* Trusts the machine's roots. CURLSSLOPT_NATIVE_CA is not used, because it also trusts the roots of
 * the current user. */
void http_curl_trust_machine(void *easy, int option) {
    struct curl_blob roots = {.flags = CURL_BLOB_COPY};
    BIO *pem = BIO_new(BIO_s_mem());
    char *data = NULL;
    long len;

    if (!pem)
        abort(); /* BIO_new() fails only when memory is exhausted. */
    http_machine_roots(add_root, pem);
    len = BIO_get_mem_data(pem, &data);
    roots.data = data;
    roots.len = (size_t)len;
    /* Without roots no server is trusted: on Windows libcurl has no list of its own. */
    if (len > 0)
        curl_easy_setopt(easy, (CURLoption)option, &roots);
    BIO_free(pem);
}

void http_curl_trust(void *easy, const struct http_request *request, struct http_curl_tls *tls) {
    bool full = request->verify == HTTP_VERIFY_FULL;
    _cleanup_(freep) char *file = NULL;

    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, full ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, full ? 2L : 0L);
    /* Disable session reuse: a session from a connection without verification must not skip the
     * verification of a later one. */
    curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, 0L);
    if (request->ca_pem) {
        struct curl_blob ca = blob_of(request->ca_pem);

        /* Trust only these certificates. Otherwise libcurl's built-in file and folder would be
         * trusted too. */
        curl_easy_setopt(easy, CURLOPT_CAINFO, NULL);
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
        curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &ca);
    } else {
        http_curl_trust_machine(easy, CURLOPT_CAINFO_BLOB);
        file = http_system_roots();
        if (file)
            curl_easy_setopt(easy, CURLOPT_CAINFO, file);
    }
    tls->full = full;
    if (full && !request->follow_redirects) /* A redirect may lead to a server with another name. */
        tls->name = request->server_name ? xstrdup(request->server_name) : host_of(request->url);
    curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, set_rules);
    curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, tls);
    if (request->client_cert_pem) {
        struct curl_blob certificate = blob_of(request->client_cert_pem);
        struct curl_blob key = blob_of(request->client_key_pem);

        curl_easy_setopt(easy, CURLOPT_SSLCERT_BLOB, &certificate);
        curl_easy_setopt(easy, CURLOPT_SSLKEY_BLOB, &key);
    }
}

/* Reads the chain from OpenSSL itself. libcurl's own list (CURLOPT_CERTINFO) also has each
 * certificate's fields as text, which costs up to a quarter of the handshake. */
char *http_curl_chain(void *easy) {
    struct curl_tlssessioninfo *session = NULL;
    BIO *bio = NULL;
    const STACK_OF(X509) * chain;
    char *data = NULL, *pem = NULL;
    long len, made;

    if (curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &made) != CURLE_OK || !made ||
        curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || !session->internals)
        return NULL;
    chain = SSL_get_peer_cert_chain(session->internals);
    bio = BIO_new(BIO_s_mem());
    if (!bio)
        abort(); /* BIO_new() fails only when memory is exhausted. */
    for (int i = 0; i < sk_X509_num(chain); i++)
        if (!PEM_write_bio_X509(bio, sk_X509_value(chain, i)))
            abort(); /* Writing PEM to memory fails only when memory is exhausted. */
    len = BIO_get_mem_data(bio, &data);
    if (len > 0)
        pem = xstrndup(data, (size_t)len);
    BIO_free(bio);
    return pem;
}

char *http_curl_url(const struct http_request *request, void **ret_connect_to, char **ret_host) {
    const char *name = request->server_name, *url = request->url;
    const char *authority = strstr(url, "://") + 3;
    struct http_authority parts = http_authority_split(authority);
    _cleanup_(freep) char *real = xstrndup(authority, (size_t)(parts.end - authority));
    _cleanup_(freep) char *to = xasprintf("::%s%s", real, parts.port ? "" : ":");

    if (!name)
        return xstrdup(url);
    *ret_connect_to = curl_slist_append(NULL, to);
    *ret_host = take_ptr(real);
    return xasprintf(strchr(name, ':') ? "%.*s[%s]%s" : "%.*s%s%s", (int)(authority - url), url,
                     name, parts.port ? parts.port : parts.end);
}
