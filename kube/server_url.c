/* URLs of API servers: what one may hold, and what of a URL may be shown. */
#include "kube/server_url.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cidr.h"
#include "base/memory.h"
#include "base/text.h"

enum { NAME_MAX_LEN = 254 };

static bool is_host(const char *host) {
    size_t len = strlen(host);
    struct ip ip;

    if (host[0] == '[') {
        _cleanup_(freep) char *inner = xstrndup(host + 1, len >= 2 ? len - 2 : 0);

        return host[len - 1] == ']' && ip_parse(inner, &ip, NULL) == 0 && ip.family == 6;
    }
    if (len > NAME_MAX_LEN)
        return false;
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)host[i]) && !strchr("-._", host[i]))
            return false;
    return len > 0;
}

static const char *why_bad_authority(const char *authority) {
    const char *bracket = strrchr(authority, ']');
    const char *colon = strchr(bracket ? bracket : authority, ':');
    _cleanup_(freep) char *host = NULL;
    long long port;

    if (strchr(authority, '@'))
        return "its server must not name a user or a password";
    host = xstrndup(authority, colon ? (size_t)(colon - authority) : strlen(authority));
    if (!is_host(host))
        return "its server must have a host: a name in ASCII, an IPv4 address, or an IPv6 address "
               "in brackets";
    if (colon && text_to_number(colon + 1, 1, 65535, &port) < 0)
        return "its server's port must be a number from 1 to 65535";
    return NULL;
}

static bool is_good_path(const char *path) {
    for (const char *p = path; *p; p++)
        if (p[0] == '/' && p[1] == '.' &&
            (p[2] == '/' || !p[2] || (p[2] == '.' && (p[3] == '/' || !p[3]))))
            return false;
    return true;
}

static const char *why_bad(const char *url) {
    static const char scheme[] = "https://";
    _cleanup_(freep) char *authority = NULL;
    const char *path;

    if (!url || !text_starts_with(url, scheme))
        return "its server must be an https URL";
    for (const char *p = url; *p; p++)
        if (*p <= ' ' || *p >= 0x7f)
            return "its server must be written in ASCII, without blanks (its host in punycode)";
    url += sizeof scheme - 1;
    path = url + strcspn(url, "/?#");
    if (strpbrk(path, "?#"))
        return "its server must have no query and no fragment";
    if (strpbrk(path, "\\%\"<>^`{|}") || !is_good_path(path))
        return "its server's path must be a plain one";
    authority = xstrndup(url, (size_t)(path - url));
    return why_bad_authority(authority);
}

int server_url_check(const char *url, struct error *err) {
    const char *why = why_bad(url);

    return why ? error_set(err, ERROR_USAGE, "%s", why) : 0;
}

char *server_url_join(const char *server, const char *path) {
    size_t len = strlen(server);

    while (len && server[len - 1] == '/')
        len--;
    return xasprintf("%.*s%s", (int)len, server, path);
}
