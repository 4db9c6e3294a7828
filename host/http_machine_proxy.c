/* Windows' machine-wide proxy (netsh winhttp set proxy): its lists, read as WinHTTP documents them
 * (WINHTTP_PROXY_INFO). */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "host/http_ops.h"

#define SEPARATORS "; \t\r\n"

/* "*" stands for any run of characters. */
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

/* The next piece of a list from *at on; NULL at its end. The caller frees. */
static char *next_item(const char **at) {
    const char *begin = *at + strspn(*at, SEPARATORS);
    size_t len = strcspn(begin, SEPARATORS);

    *at = begin + len;
    return len ? xstrndup(begin, len) : NULL;
}

/* "10.0.0.10:6443" out of a URL, and its host alone, both in lower case. */
static void split_url(const char *url, char **ret_authority, char **ret_host) {
    const char *start = strstr(url, "://");
    const char *authority = start ? start + 3 : url;
    _cleanup_(freep) char *part = xstrndup(authority, strcspn(authority, "/?#"));
    const char *at = strrchr(part, '@');
    char *colon;

    *ret_authority = text_lower(at ? at + 1 : part);
    *ret_host = xstrdup(*ret_authority);
    colon = strrchr(*ret_host, ':');
    if (colon && !strchr(colon, ']'))
        *colon = '\0';
}

static bool is_bypassed(const char *url, const char *bypass) {
    _cleanup_(freep) char *authority = NULL, *host = NULL, *list = text_lower(bypass);
    const char *at = list;
    bool found = false;
    char *item;

    split_url(url, &authority, &host);
    while (!found && (item = next_item(&at)) != NULL) {
        found = text_equal(item, "<local>") ? !strpbrk(host, ".:")
                                            : matches(item, host) || matches(item, authority);
        free(item);
    }
    return found;
}

char *http_machine_proxy_for(const char *url, const char *proxy, const char *bypass) {
    const char *scheme = text_starts_with(url, "https:") ? "https=" : "http=";
    const char *at = proxy ? proxy : "";
    char *item, *general = NULL, *special = NULL;

    if (bypass && is_bypassed(url, bypass))
        return NULL;
    while ((item = next_item(&at)) != NULL) {
        if (!special && text_starts_with(item, scheme))
            special = xstrdup(item + strlen(scheme));
        else if (!general && !strchr(item, '='))
            general = xstrdup(item);
        free(item);
    }
    if (special && !*special)
        freep(&special);
    if (special)
        free(take_ptr(general));
    return special ? special : general;
}
