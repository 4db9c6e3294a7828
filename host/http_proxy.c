/* Which proxy Go's net/http would take (golang.org/x/net/http/httpproxy): the tools beside winjoin
 * on the node read the same variables, and must come to the same answer. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/cidr.h"
#include "base/memory.h"
#include "host/http_ops.h"

#define BLANKS " \t\r\n\v\f"

struct target {
    char *host; /* lower-case, without brackets */
    char port[6];
    struct ip ip; /* family 0 = a name */
};

/* Go compares IPv4 addresses and those that IPv6 wraps as one. */
static void unwrap(struct ip *ip) {
    static const uint8_t wrapping[12] = {[10] = 0xff, [11] = 0xff};

    if (ip->family != 6 || memcmp(ip->bytes, wrapping, sizeof wrapping) != 0)
        return;
    memmove(ip->bytes, ip->bytes + sizeof wrapping, 4);
    ip->family = 4;
}

static void target_clear(struct target *target) {
    free(target->host);
}

/* "host", "host:port", "[v6]:port"; a bare v6 address has no port. */
static void split_host(const char *text, char **ret_host, char ret_port[6]) {
    const char *end = text + strlen(text);
    const char *colon = strrchr(text, ':');
    const char *bracket = *text == '[' ? strchr(text, ']') : NULL;

    ret_port[0] = '\0';
    if (bracket && bracket[1] == ':') {
        end = bracket;
        colon = end + 1;
        text++;
    } else if (bracket) {
        colon = NULL; /* Go takes brackets without a port for a part of the name */
    } else if (colon && strchr(text, ':') != colon) {
        colon = NULL;
    } else if (colon) {
        end = colon;
    }
    if (colon && text_format(ret_port, 6, "%s", colon + 1) < 0)
        ret_port[0] = '\0';
    *ret_host = xstrndup(text, (size_t)(end - text));
}

static int split_url(const char *url, struct target *ret) {
    const char *start = strstr(url, "://");
    _cleanup_(freep) char *authority = NULL;
    _cleanup_(freep) char *host = NULL;
    const char *at;

    if (!start)
        return -1;
    authority = xstrndup(start + 3, strcspn(start + 3, "/?#"));
    at = strrchr(authority, '@');
    split_host(at ? at + 1 : authority, &host, ret->port);
    if (*host == '[') { /* a URL's v6 address without a port */
        memmove(host, host + 1, strlen(host));
        host[strcspn(host, "]")] = '\0';
    }
    if (!ret->port[0])
        (void)text_format(ret->port, 6, "%s", text_starts_with(url, "https:") ? "443" : "80");
    ret->host = text_lower(host);
    if (ip_parse(ret->host, &ret->ip, NULL) < 0)
        ret->ip.family = 0;
    unwrap(&ret->ip);
    return 0;
}

static bool matches_name(const struct target *target, const char *pattern) {
    size_t host_len = strlen(target->host);
    size_t len;

    if (target->ip.family)
        return false;
    if (text_starts_with(pattern, "*."))
        pattern++;
    len = strlen(pattern);
    if (pattern[0] != '.' && strcmp(target->host, pattern) == 0)
        return true;
    if (pattern[0] == '.')
        return host_len >= len && strcmp(target->host + host_len - len, pattern) == 0;
    return host_len > len && target->host[host_len - len - 1] == '.' &&
           strcmp(target->host + host_len - len, pattern) == 0;
}

/* One item of NO_PROXY. */
static bool is_excluded_by(const struct target *target, const char *item) {
    _cleanup_(freep) char *host = NULL;
    struct cidr range;
    struct ip ip;
    char port[6];

    if (strcmp(item, "*") == 0)
        return true;
    if (strchr(item, '/'))
        return cidr_parse(item, &range, NULL) == 0 && target->ip.family &&
               cidr_contains(&range, &target->ip);
    split_host(item, &host, port);
    if (!*host || (port[0] && strcmp(port, target->port) != 0))
        return false;
    if (ip_parse(host, &ip, NULL) == 0) {
        unwrap(&ip);
        return target->ip.family && ip_equal(&ip, &target->ip);
    }
    return matches_name(target, host);
}

static bool is_excluded(const struct target *target, const char *no_proxy) {
    _cleanup_(freep) char *lower = text_lower(no_proxy ? no_proxy : "");
    struct text_list items = {0};
    bool excluded = false;

    text_list_split(&items, lower, ',');
    for (size_t i = 0; i < items.count && !excluded; i++) {
        char *item = items.items[i] + strspn(items.items[i], BLANKS);
        size_t len = strlen(item);

        while (len && strchr(BLANKS, item[len - 1]))
            item[--len] = '\0';
        excluded = *item && is_excluded_by(target, item);
    }
    text_list_free(&items);
    return excluded;
}

/* Names without a scheme are http's; libcurl's own port for a proxy, 1080, is not Go's; and Go lets
 * a SOCKS proxy look names up. */
char *http_proxy_complete(const char *proxy) {
    _cleanup_(freep) char *whole =
        strstr(proxy, "://") ? xstrdup(proxy) : xasprintf("http://%s", proxy);
    char *authority = strstr(whole, "://") + 3;
    size_t len = strcspn(authority, "/?#");
    const char *colon = NULL;

    for (char *p = whole; *p != ':'; p++)
        *p = (char)tolower((unsigned char)*p);
    for (size_t i = 0; i < len; i++)
        if (authority[i] == ':')
            colon = authority + i;
        else if (authority[i] == '@' || authority[i] == ']')
            colon = NULL;
    if (text_starts_with(whole, "socks5://"))
        return xasprintf("socks5h://%.*s", (int)len, authority);
    if (colon || !text_starts_with(whole, "http://"))
        return take_ptr(whole);
    return xasprintf("http://%.*s:80", (int)len, authority);
}

static const char *why_no_proxy(const char *proxy) {
    static const char *const schemes[] = {"http://", "https://", "socks5h://"};
    const char *authority = strstr(proxy, "://") + 3;
    _cleanup_(freep) char *host = NULL;
    const char *at, *port;
    long long number;
    bool known = false;

    for (const unsigned char *p = (const unsigned char *)proxy; *p; p++)
        if (*p <= ' ' || *p == 0x7f)
            return "it holds a blank or a control character";
    for (size_t i = 0; i < ARRAY_SIZE(schemes); i++)
        known = known || text_starts_with(proxy, schemes[i]);
    if (!known)
        return "its scheme must be http, https or socks5";
    host = xstrndup(authority, strcspn(authority, "/?#"));
    at = strrchr(host, '@');
    at = at ? at + 1 : host;
    port = strrchr(at, ':');
    if (port && strchr(port, ']'))
        port = NULL;
    if (!*at || port == at)
        return "it has no host";
    if (port && port[1] && text_to_number(port + 1, 1, 65535, &number) < 0)
        return "its port must be a number from 1 to 65535";
    return NULL;
}

int http_proxy_check(const char *proxy, struct error *err) {
    const char *why = why_no_proxy(proxy);
    _cleanup_(freep) char *shown = http_shown_proxy(proxy);

    return why ? error_set(err, ERROR_USAGE, "use the proxy '%s': %s", shown, why) : 0;
}

char *http_proxy_for(const char *url, const char *https_proxy, const char *no_proxy) {
    _cleanup_(target_clear) struct target target = {0};

    if (!https_proxy || !*https_proxy || split_url(url, &target) < 0)
        return NULL;
    if (strcmp(target.host, "localhost") == 0 || (target.ip.family && ip_is_loopback(&target.ip)) ||
        is_excluded(&target, no_proxy))
        return NULL;
    return http_proxy_complete(https_proxy);
}

static const char *either(const char *upper, const char *lower) {
    const char *value = getenv(upper);

    if (!value || !*value)
        value = getenv(lower);
    return value && *value ? value : NULL;
}

char *http_environment_proxy(const char *url) {
    bool https = text_starts_with(url, "https:");
    const char *proxy =
        https ? either("HTTPS_PROXY", "https_proxy") : either("HTTP_PROXY", "http_proxy");
    const char *none = either("NO_PROXY", "no_proxy");
    _cleanup_(freep) char *machine = NULL, *bypass = NULL, *named = NULL;

    if (!https && getenv("REQUEST_METHOD"))
        proxy = NULL; /* a CGI program's caller could set it (golang.org/s/cgihttpproxy) */
    if (proxy || !http_system_proxy(&machine, &bypass))
        return http_proxy_for(url, proxy, none);
    named = http_machine_proxy_for(url, machine, bypass);
    return http_proxy_for(url, named, none);
}

char *http_shown_proxy(const char *proxy) {
    const char *start = strstr(proxy, "://");
    const char *rest = start ? start + 3 : proxy;
    const char *at = strrchr(rest, '@'); /* the last one: a password may hold what it should not */

    return xasprintf("%.*s%s", (int)(rest - proxy), proxy, at ? at + 1 : rest);
}
