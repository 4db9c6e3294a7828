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
        (void)text_format(ret_port, 6, "?"); /* nobody's */
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

/* client-go reads prefixes with noughts before their numbers, and counts them as decimal. */
static char *without_noughts(const char *prefix) {
    char *out = xcalloc(strlen(prefix) + 1, 1), *o = out;
    bool begins = true;

    for (const char *p = prefix; *p; p++) {
        if (begins && *p == '0' && isdigit((unsigned char)p[1]))
            continue;
        begins = *p == '.' || *p == '/';
        *o++ = *p;
    }
    return out;
}

static bool is_in_prefix(const struct target *target, const char *item) {
    _cleanup_(freep) char *prefix = without_noughts(item);
    struct cidr range;

    if (!target->ip.family || cidr_parse(prefix, &range, NULL) < 0)
        return false;
    unwrap(&range.base);
    if (range.base.family == 4 && range.length > 32)
        range.length -= 96;
    return cidr_contains(&range, &target->ip);
}

/* One item of NO_PROXY. */
static bool is_excluded_by(const struct target *target, const char *item) {
    _cleanup_(freep) char *host = NULL;
    struct ip ip;
    char port[6];

    if (strcmp(item, "*") == 0)
        return true;
    if (strchr(item, '/'))
        return is_in_prefix(target, item);
    split_host(item, &host, port);
    if (!*host || (port[0] && strcmp(port, target->port) != 0))
        return false;
    if (ip_parse(host, &ip, NULL) == 0) {
        unwrap(&ip);
        return target->ip.family && ip_equal(&ip, &target->ip);
    }
    return matches_name(target, host);
}

/* The length of the blank at the beginning, or the end: ASCII's, and that which pages put between
 * words. */
static size_t blank_at(const char *text, size_t len, bool end) {
    static const char nbsp[] = "\xc2\xa0";

    if (len && strchr(BLANKS, text[end ? len - 1 : 0]))
        return 1;
    return len >= 2 && memcmp(text + (end ? len - 2 : 0), nbsp, 2) == 0 ? 2 : 0;
}

static const char *trimmed(char *text) {
    size_t len = strlen(text), blank;

    while ((blank = blank_at(text, len, false)) != 0) {
        text += blank;
        len -= blank;
    }
    while ((blank = blank_at(text, len, true)) != 0)
        len -= blank;
    text[len] = '\0';
    return text;
}

static bool is_excluded(const struct target *target, const char *no_proxy) {
    _cleanup_(freep) char *lower = text_lower(no_proxy ? no_proxy : "");
    struct text_list items = {0};
    bool excluded = false;

    text_list_split(&items, lower, ',');
    for (size_t i = 0; i < items.count && !excluded; i++) {
        const char *item = trimmed(items.items[i]);

        excluded = *item && is_excluded_by(target, item);
    }
    text_list_free(&items);
    return excluded;
}

/* ---- the proxy's own URL ---- */

/* As net/url has them: RFC 3986 section 3.2.1, and "@"; no control characters, RFC 7617 section 2.
 */
static bool is_login(const char *text, const char *end) {
    static const char others[] = "-._:~!$&'()*+,;=@";

    for (; text < end; text++) {
        if (*text == '%' && isxdigit((unsigned char)text[1]) && isxdigit((unsigned char)text[2]) &&
            text[1] != '0' && text[1] != '1' && !(text[1] == '7' && (text[2] | 0x20) == 'f'))
            text += 2;
        else if (!isalnum((unsigned char)*text) && !strchr(others, *text))
            return false;
    }
    return true;
}

static const char *why_no_proxy(const char *proxy) {
    static const char *const schemes[] = {"http://", "https://", "socks5://", "socks5h://"};
    _cleanup_(freep) char *host = NULL;
    const char *authority;
    struct http_authority url;
    long long number;
    bool known = false;

    for (const unsigned char *p = (const unsigned char *)proxy; *p; p++)
        if (*p <= ' ' || *p >= 0x7f)
            return "it holds a blank, a control character or one that is not ASCII";
    for (size_t i = 0; i < ARRAY_SIZE(schemes); i++)
        known = known || text_starts_with(proxy, schemes[i]);
    if (!known)
        return "its scheme must be http, https or socks5";
    authority = strstr(proxy, "://") + 3;
    url = http_authority_split(authority);
    host = xstrndup(url.host, (size_t)((url.port ? url.port : url.end) - url.host));
    if (url.login_end && !is_login(authority, url.login_end))
        return "its user or password holds what must be written as %XX, or a control character";
    if (!*host)
        return "it has no host";
    if (url.port && url.port + 1 < url.end) {
        _cleanup_(freep) char *port = xstrndup(url.port + 1, (size_t)(url.end - url.port - 1));

        if (!isdigit((unsigned char)*port) || text_to_number(port, 1, 65535, &number) < 0)
            return "its port must be a number from 1 to 65535";
    }
    return http_host_is_plain(host)
               ? NULL
               : "its host must be a name in ASCII, an IPv4 address, or an IPv6 "
                 "address in brackets";
}

/* Names without a scheme are http's. */
static char *with_scheme(const char *proxy) {
    char *whole = strstr(proxy, "://") ? xstrdup(proxy) : xasprintf("http://%s", proxy);

    for (char *p = whole; *p != ':'; p++)
        *p = (char)tolower((unsigned char)*p);
    return whole;
}

/* libcurl's own port for a proxy, 1080, is not Go's, and Go lets a SOCKS proxy look names up. What
 * is no such URL stays what it is, for http_proxy_check. */
char *http_proxy_complete(const char *proxy) {
    _cleanup_(freep) char *whole = with_scheme(proxy);
    struct http_authority url;
    const char *port = "", *authority;

    if (why_no_proxy(whole))
        return xstrdup(proxy);
    authority = strstr(whole, "://") + 3;
    url = http_authority_split(authority);
    if (url.port && url.port + 1 == url.end) /* a colon and no port: as without */
        url.end = url.port, url.port = NULL;
    if (!url.port && text_starts_with(whole, "http://"))
        port = ":80";
    return xasprintf("%.*s%.*s%s",
                     text_starts_with(whole, "socks5://") ? 10 : (int)(authority - whole),
                     text_starts_with(whole, "socks5://") ? "socks5h://" : whole,
                     (int)(url.end - authority), authority, port);
}

int http_proxy_check(const char *proxy, struct error *err) {
    _cleanup_(freep) char *whole = with_scheme(proxy);
    _cleanup_(freep) char *shown = http_shown_proxy(proxy);
    const char *why = why_no_proxy(whole);

    return why ? error_set(err, ERROR_USAGE, "use the proxy '%s': %s", shown, why) : 0;
}

int http_proxy_url_check(const char *url, struct error *err) {
    _cleanup_(freep) char *lower = text_lower(url);

    if (!strstr(url, "://") || text_starts_with(lower, "socks5h:"))
        return error_set(
            err, ERROR_USAGE,
            "use the kubeconfig's proxy-url: its scheme must be http, https or socks5");
    return http_proxy_check(url, err);
}

static void add_login(struct text *out, const char *text, const char *end) {
    static const char others[] = "-._~:%";

    for (; text < end; text++)
        if (isalnum((unsigned char)*text) || strchr(others, *text))
            text_add_char(out, *text);
        else
            text_addf(out, "%%%02X", (unsigned char)*text);
}

char *http_proxy_encoded(const char *proxy) {
    const char *authority = strstr(proxy, "://") + 3;
    struct http_authority url = http_authority_split(authority);
    struct text out = {0};

    text_add_bytes(&out, proxy, (size_t)(authority - proxy));
    if (url.login_end)
        add_login(&out, authority, url.login_end);
    text_add(&out, url.login_end ? url.login_end : authority);
    return text_take(&out);
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
