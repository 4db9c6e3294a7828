/* Checks, splits and joins URLs of API servers. */
#include "kube/kubeconfig.h"

#include "base/cidr.h"
#include "base/text.h"

/* Characters that may occur in a server URL. They exclude queries, fragments, user names, escapes
 * and control characters. */
#define PLAIN "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:/[]"

/* Returns why a URL is not acceptable, or NULL when it is. `url` begins behind the scheme. */
static const char *why_bad(const char *url) {
    _cleanup_(freep) char *authority = NULL, *host = NULL;
    struct ip ip;
    unsigned port;
    bool good;

    if (strchr(url, '@'))
        return "its server must not contain a user or password";
    if (url[strspn(url, PLAIN)])
        return "its server must be HOST[:PORT][/path] in ASCII, without blanks, query and fragment";
    authority = xstrndup(url, strcspn(url, "/"));
    if (text_split_port(authority, &host, &port) < 0)
        return "its server's port must be a number from 1 to 65535";
    good = *authority == '[' ? ip_parse(host, &ip, NULL) == 0 && ip.family == 6
                             : *host && !strpbrk(host, ":[]~");
    return good ? NULL
                : "its server must have a host: a name in ASCII, an IPv4 address, or an IPv6 "
                  "address in brackets";
}

static int check(const char *url, bool plain, struct error *err) {
    bool secure = url && text_starts_with(url, "https://");
    const char *why = secure || (plain && url && text_starts_with(url, "http://"))
                          ? why_bad(strstr(url, "://") + 3)
                      : plain ? "its server must be an https or http URL"
                              : "its server must be an https URL";

    return why ? error_set(err, ERROR_USAGE, "%s", why) : 0;
}

int server_url_check(const char *url, struct error *err) {
    return check(url, false, err);
}

int server_url_check_any(const char *url, struct error *err) {
    return check(url, true, err);
}

char *server_url_join(const char *server, const char *path) {
    size_t len = strlen(server);

    while (len && server[len - 1] == '/')
        len--;
    return xasprintf("%.*s%s", (int)len, server, path);
}

char *server_url_host(const char *server) {
    const char *at = strstr(server, "://");
    const char *host = at ? at + 3 : server;

    if (*host == '[')
        return xstrndup(host + 1, strcspn(host + 1, "]"));
    return xstrndup(host, strcspn(host, ":/"));
}

bool server_url_is_here(const char *server) {
    static const struct ip none; /* The address 0.0.0.0 or ::. */
    _cleanup_(freep) char *host = server_url_host(server);
    struct ip ip;

    if (ip_parse(host, &ip, NULL) < 0)
        return text_equal_nocase(host, "localhost") || text_equal_nocase(host, "localhost.");
    return ip_is_loopback(&ip) || memcmp(ip.bytes, none.bytes, sizeof ip.bytes) == 0;
}
