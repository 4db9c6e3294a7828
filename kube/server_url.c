/* Checks, splits and joins URLs of API servers. */
#include "kube/kubeconfig.h"

#include "base/cidr.h"
#include "base/text.h"

/* Characters that may occur in a server URL. They exclude queries, fragments, user names, escapes
 * and control characters. */
#define PLAIN "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:/[]"

int server_url_check(const char *url, bool plain, struct error *err) {
    bool secure = url && text_starts_with(url, "https://");
    _cleanup_(freep) char *authority = NULL, *host = NULL;
    const char *rest, *why = NULL;
    struct ip ip;
    unsigned port;

    if (!secure && !(plain && url && text_starts_with(url, "http://")))
        return error_set(err, ERROR_USAGE, "its server must be an %s URL",
                         plain ? "https or http" : "https");
    rest = strstr(url, "://") + 3;
    authority = xstrndup(rest, strcspn(rest, "/"));
    if (strchr(rest, '@'))
        why = "its server must not contain a user or password";
    else if (rest[strspn(rest, PLAIN)])
        why = "its server must be HOST[:PORT][/path] in ASCII, without blanks, query and fragment";
    else if (text_split_port(authority, &host, &port) < 0)
        why = "its server's port must be a number from 1 to 65535";
    else if (*authority == '[' ? ip_parse(host, &ip, NULL) < 0 || ip.family != 6
                               : !*host || strpbrk(host, ":[]~"))
        why =
            "its server must have a host: a name in ASCII, an IPv4 address, or an IPv6 address in "
            "brackets";
    return why ? error_set(err, ERROR_USAGE, "%s", why) : 0;
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
