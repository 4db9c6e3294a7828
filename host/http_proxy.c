/* Which proxy Go's net/http would take (golang.org/x/net/http/httpproxy): the tools beside winjoin
 * on the node read the same variables, and must come to the same answer. */
#include <stdlib.h>
#include <string.h>

#include "base/cidr.h"
#include "base/memory.h"
#include "host/http_ops.h"

struct target {
    char *host; /* lower-case, without brackets */
    char port[6];
    struct ip ip; /* family 0 = a name */
};

static void target_clear(struct target *target) {
    free(target->host);
}

/* "host", "host:port", "[v6]", "[v6]:port"; a bare v6 address has no port. */
static void split_host(const char *text, char **ret_host, char ret_port[6]) {
    const char *end = text + strlen(text);
    const char *colon = strrchr(text, ':');

    ret_port[0] = '\0';
    if (*text == '[' && strchr(text, ']')) {
        end = strchr(text++, ']');
        colon = end[1] == ':' ? end + 1 : NULL;
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
        char *item = items.items[i] + strspn(items.items[i], " \t");

        item[strcspn(item, " \t")] = '\0';
        excluded = *item && is_excluded_by(target, item);
    }
    text_list_free(&items);
    return excluded;
}

char *http_proxy_for(const char *url, const char *https_proxy, const char *no_proxy) {
    _cleanup_(target_clear) struct target target = {0};

    if (!https_proxy || !*https_proxy || split_url(url, &target) < 0)
        return NULL;
    if (strcmp(target.host, "localhost") == 0 || (target.ip.family && ip_is_loopback(&target.ip)) ||
        is_excluded(&target, no_proxy))
        return NULL;
    return strstr(https_proxy, "://") ? xstrdup(https_proxy) : xasprintf("http://%s", https_proxy);
}

char *http_environment_proxy(const char *url) {
    bool https = text_starts_with(url, "https:");
    const char *proxy = getenv(https ? "HTTPS_PROXY" : "HTTP_PROXY");
    const char *none = getenv("NO_PROXY");

    if (!proxy || !*proxy)
        proxy = getenv(https ? "https_proxy" : "http_proxy");
    if (!none || !*none)
        none = getenv("no_proxy");
    return http_proxy_for(url, proxy, none);
}

char *http_shown_proxy(const char *proxy) {
    const char *start = strstr(proxy, "://");
    const char *at = strrchr(proxy, '@');

    if (!at || !start)
        return xstrdup(at ? at + 1 : proxy);
    return xasprintf("%.*s%s", (int)(start + 3 - proxy), proxy, at + 1);
}
