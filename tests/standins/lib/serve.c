/* Small servers: a health page, and the kubelet's TLS port that lets nobody in. */
#include "tests/standins/lib/serve.h"

#include "base/memory.h"
#include "tests/standins/lib/lifetime.h"

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>
#include <winsock2.h>

#include <ws2tcpip.h>

static const char OK_ANSWER[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n"
                                "Content-Length: 2\r\nConnection: close\r\n\r\nok";
static const char UNAUTHORIZED_ANSWER[] =
    "HTTP/1.1 401 Unauthorized\r\nContent-Type: text/plain; charset=utf-8\r\n"
    "Content-Length: 12\r\nConnection: close\r\n\r\nUnauthorized";

struct listener {
    SOCKET socket;
    SSL_CTX *tls; /* NULL: plain */
};

struct visitor {
    SOCKET socket;
    SSL_CTX *tls;
};

static void greet_by_tls(const struct visitor *visitor) {
    char request[2048];
    SSL *ssl = SSL_new(visitor->tls);

    SSL_set_fd(ssl, (int)visitor->socket);
    if (SSL_accept(ssl) == 1 && SSL_read(ssl, request, sizeof(request)) > 0) {
        (void)SSL_write(ssl, UNAUTHORIZED_ANSWER, sizeof(UNAUTHORIZED_ANSWER) - 1);
        (void)SSL_shutdown(ssl); /* a visitor that left early is not a failure */
    }
    SSL_free(ssl);
}

static void greet(void *given) {
    struct visitor *visitor = given;
    char request[2048];
    DWORD limit = 10000;

    (void)setsockopt(visitor->socket, SOL_SOCKET, SO_RCVTIMEO, (char *)&limit, sizeof(limit));
    if (visitor->tls)
        greet_by_tls(visitor);
    else if (recv(visitor->socket, request, sizeof(request), 0) > 0)
        (void)send(visitor->socket, OK_ANSWER, sizeof(OK_ANSWER) - 1, 0); /* may have left */
    (void)shutdown(visitor->socket, SD_SEND);
    closesocket(visitor->socket);
    free(visitor);
}

static void receive(void *given) {
    struct listener listener = *(struct listener *)given;

    free(given);
    for (;;) {
        SOCKET s = accept(listener.socket, NULL, NULL);
        if (s == INVALID_SOCKET)
            return;
        struct visitor *visitor = xmalloc(sizeof(*visitor));
        *visitor = (struct visitor){s, listener.tls};
        lifetime_thread(greet, visitor);
    }
}

/* All addresses are those of both families, as Go listens. */
static SOCKET open_both(unsigned port) {
    struct sockaddr_in6 at = {.sin6_family = AF_INET6, .sin6_port = htons((unsigned short)port)};
    DWORD off = 0;
    SOCKET s = socket(AF_INET6, SOCK_STREAM, 0);

    if (s != INVALID_SOCKET &&
        (setsockopt(s, IPPROTO_IPV6, IPV6_V6ONLY, (const char *)&off, sizeof(off)) ||
         bind(s, (struct sockaddr *)&at, sizeof(at)))) {
        closesocket(s);
        s = INVALID_SOCKET;
    }
    return s;
}

static SOCKET open_one(const char *address, unsigned port) {
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = inet_addr(address),
                             .sin_port = htons((unsigned short)port)};
    SOCKET s = socket(AF_INET, SOCK_STREAM, 0);

    if (s != INVALID_SOCKET && bind(s, (struct sockaddr *)&at, sizeof(at))) {
        closesocket(s);
        s = INVALID_SOCKET;
    }
    return s;
}

static int open_port(const char *address, unsigned port, SSL_CTX *tls, struct error *err) {
    WSADATA data;
    SOCKET s = INVALID_SOCKET;

    (void)WSAStartup(MAKEWORD(2, 2), &data); /* without it the socket fails below */
    if (strcmp(address, "0.0.0.0") == 0)
        s = open_both(port);
    if (s == INVALID_SOCKET)
        s = open_one(address, port);
    if (s == INVALID_SOCKET || listen(s, 16)) {
        (void)error_set_os(err, ERROR_HOST, (unsigned long)WSAGetLastError(),
                           "cannot listen on %s:%u", address, port);
        if (s != INVALID_SOCKET)
            closesocket(s);
        return -1;
    }
    struct listener *listener = xmalloc(sizeof(*listener));
    *listener = (struct listener){s, tls};
    lifetime_thread(receive, listener);
    return 0;
}

int serve_health(const char *address, unsigned port, struct error *err) {
    return open_port(address, port, NULL, err);
}

/* A self-signed certificate of a year, as the kubelet makes itself one. */
static SSL_CTX *self_signed(const char *name) {
    SSL_CTX *tls = SSL_CTX_new(TLS_server_method());
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = X509_new();
    X509_NAME *subject = X509_get_subject_name(cert);

    (void)X509_set_version(cert, X509_VERSION_3);
    (void)ASN1_INTEGER_set(X509_get_serialNumber(cert), 1);
    (void)X509_gmtime_adj(X509_getm_notBefore(cert), -3600);
    (void)X509_gmtime_adj(X509_getm_notAfter(cert), 365 * 86400);
    (void)X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, (const unsigned char *)name, -1,
                                     -1, 0);
    (void)X509_set_issuer_name(cert, subject);
    (void)X509_set_pubkey(cert, key);
    (void)X509_sign(cert, key, EVP_sha256());
    int good = SSL_CTX_use_certificate(tls, cert) == 1 && SSL_CTX_use_PrivateKey(tls, key) == 1;
    X509_free(cert);
    EVP_PKEY_free(key);
    if (good)
        return tls;
    SSL_CTX_free(tls);
    return NULL;
}

int serve_unauthorized(unsigned port, const char *name, struct error *err) {
    SSL_CTX *tls = self_signed(name);

    if (!tls)
        return error_set(err, ERROR_HOST, "cannot make a serving certificate for '%s'", name);
    return open_port("0.0.0.0", port, tls, err);
}
