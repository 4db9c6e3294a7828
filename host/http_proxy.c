/* Which proxy Go's net/http would take (golang.org/x/net/http/httpproxy): the tools beside winjoin
 * on the node read the same variables, and must come to the same answer. */
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
    if (ip_parse(host, &ip, NULL) == 0)
        return target->ip.family && ip_equal(&ip, &target->ip);
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

/* Names without a scheme are http's; libcurl's own port for a proxy, 1080, is not Go's. */
static char *complete(const char *proxy) {
    _cleanup_(freep) char *whole =
        strstr(proxy, "://") ? xstrdup(proxy) : xasprintf("http://%s", proxy);
    const char *authority = strstr(whole, "://") + 3;
    size_t len = strcspn(authority, "/?#");
    const char *colon = NULL;

    for (size_t i = 0; i < len; i++)
        if (authority[i] == ':')
            colon = authority + i;
        else if (authority[i] == '@' || authority[i] == ']')
            colon = NULL;
    if (colon || !text_starts_with(whole, "http://"))
        return take_ptr(whole);
    return xasprintf("http://%.*s:80", (int)len, authority);
}

char *http_proxy_for(const char *url, const char *https_proxy, const char *no_proxy) {
    _cleanup_(target_clear) struct target target = {0};

    if (!https_proxy || !*https_proxy || split_url(url, &target) < 0)
        return NULL;
    if (strcmp(target.host, "localhost") == 0 || (target.ip.family && ip_is_loopback(&target.ip)) ||
        is_excluded(&target, no_proxy))
        return NULL;
    return complete(https_proxy);
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
    const char *authority = start ? start + 3 : proxy;
    size_t len = strcspn(authority, "/?#");
    _cleanup_(freep) char *host = xstrndup(authority, len);
    const char *at = strrchr(host, '@');

    return xasprintf("%.*s%s", (int)(authority - proxy), proxy, at ? at + 1 : host);
}
