/* Which proxy a URL goes through, by the variables that the tools beside winjoin on the node read
 * and, on Windows, by the machine's own lists (netsh winhttp set proxy; WINHTTP_PROXY_INFO).
 *
 * Not left to libcurl: it does not tell which proxy it chose, which messages and preflight name; it
 * knows neither "*.corp" and "host:port", which Go's programs take, nor "<local>" and "10.*" of
 * WinHTTP; and it asks a proxy for loopback. */
#include "base/cidr.h"
#include "host/http_ops.h"

#define SEPARATORS ",; \t\r\n"

struct target {
    char *authority; /* "10.0.0.10:6443", lower-case */
    char *host;      /* without the port; an IPv6 address in brackets */
    struct ip ip;    /* family 0: a name */
};

static void target_clear(struct target *target) {
    free(target->authority);
    free(target->host);
}

static void split_url(const char *url, struct target *ret) {
    const char *start = strstr(url, "://");
    struct http_authority parts = http_authority_split(start ? start + 3 : url);
    const char *host_end = parts.port ? parts.port : parts.end;
    _cleanup_(freep) char *authority = xstrndup(parts.host, (size_t)(parts.end - parts.host));
    _cleanup_(freep) char *bare = NULL;

    ret->authority = text_lower(authority);
    ret->host = xstrndup(ret->authority, (size_t)(host_end - parts.host));
    bare = *ret->host == '[' ? xstrndup(ret->host + 1, strcspn(ret->host + 1, "]"))
                             : xstrdup(ret->host);
    if (ip_parse(bare, &ret->ip, NULL) < 0)
        ret->ip.family = 0;
}

/* "*" matches any run of characters. */
static bool matches(const char *pattern, const char *text) {
    const char *star = NULL, *again = NULL;

    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            again = text;
        } else if (*pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++again;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

/* Whether the text is the domain, or ends in it behind a dot. */
static bool is_within(const char *text, const char *domain) {
    const char *end = text + strlen(text) - strlen(domain);

    return text_ends_with(text, domain) && (end == text || end[-1] == '.');
}

static bool is_excluded_by(const struct target *target, const char *item) {
    const char *domain = item + (*item == '.');
    struct cidr range;
    struct ip ip;

    if (text_equal(item, "<local>"))
        return !strpbrk(target->host, ".:");
    if (ip_parse(item, &ip, NULL) == 0)
        return ip_equal(&ip, &target->ip);
    if (cidr_parse(item, &range, NULL) == 0)
        return cidr_contains(&range, &target->ip);
    if (matches(item, target->host) || matches(item, target->authority))
        return true;
    return !target->ip.family &&
           (is_within(target->host, domain) || is_within(target->authority, domain));
}

/* The next item of a list from *at on; NULL at its end. The caller frees. */
static char *next_item(const char **at) {
    const char *begin = *at + strspn(*at, SEPARATORS);
    size_t len = strcspn(begin, SEPARATORS);

    *at = begin + len;
    return len ? xstrndup(begin, len) : NULL;
}

char *http_proxy_for(const char *url, const char *proxy, const char *excluded) {
    _cleanup_(target_clear) struct target target = {0};
    _cleanup_(freep) char *list = text_lower(excluded ? excluded : "");
    const char *at = list;
    bool direct;
    char *item;

    if (!proxy || !*proxy)
        return NULL;
    split_url(url, &target);
    direct =
        text_equal(target.host, "localhost") || (target.ip.family && ip_is_loopback(&target.ip));
    while (!direct && (item = next_item(&at)) != NULL) {
        direct = is_excluded_by(&target, item);
        free(item);
    }
    return direct ? NULL : xstrdup(proxy);
}

char *http_machine_proxy_for(const char *url, const char *proxies, const char *excluded) {
    const char *scheme = text_starts_with(url, "https:") ? "https=" : "http=";
    _cleanup_(freep) char *general = NULL, *special = NULL;
    const char *at = proxies;
    char *item;

    while ((item = next_item(&at)) != NULL) {
        if (!special && text_starts_with(item, scheme) && item[strlen(scheme)])
            special = xstrdup(item + strlen(scheme));
        else if (!general && !strchr(item, '='))
            general = xstrdup(item);
        free(item);
    }
    return http_proxy_for(url, special ? special : general, excluded);
}

static const char *either(const char *upper, const char *lower) {
    const char *value = getenv(upper);

    if (!value || !*value)
        value = getenv(lower);
    return value && *value ? value : NULL;
}

char *http_environment_proxy(const char *url) {
    const char *proxy = text_starts_with(url, "https:") ? either("HTTPS_PROXY", "https_proxy")
                                                        : either("HTTP_PROXY", "http_proxy");
    const char *excluded = either("NO_PROXY", "no_proxy");
    _cleanup_(freep) char *machine = NULL, *bypass = NULL, *both = NULL;

    if (proxy || !http_system_proxy(&machine, &bypass))
        return http_proxy_for(url, proxy, excluded);
    both = xasprintf("%s;%s", bypass ? bypass : "", excluded ? excluded : "");
    return http_machine_proxy_for(url, machine, both);
}

char *http_shown_proxy(const char *proxy) {
    const char *start = strstr(proxy, "://");
    const char *rest = start ? start + 3 : proxy;
    const char *at = strrchr(rest, '@'); /* the last one: a password may hold what it should not */

    return xasprintf("%.*s%s", (int)(rest - proxy), proxy, at ? at + 1 : rest);
}
