/* Parses a proxy URL with libcurl's parser and configures a transfer to use that proxy. User and
 * password are set separately, because libcurl's messages show the whole proxy URL. */
/* This include comes first, because on Windows it includes <windows.h>, which must precede
 * base/error.h. */
#include <curl/curl.h>
#include "host/curl/http_curl.h"
#include "host/host_ops.h"

struct proxy {
    char *url;             /* URL without user and password, e.g. "http://proxy:3128". */
    char *user, *password; /* User and password with %XX escapes, or NULL. */
};

static void proxy_clear(struct proxy *proxy) {
    free(proxy->url);
    secret_freep(&proxy->user);
    secret_freep(&proxy->password);
}

/* Returns a part of the URL, or NULL when it is absent. The caller frees it with curl_free(). */
static char *part_of(CURLU *url, CURLUPart part) {
    char *text = NULL;

    return curl_url_get(url, part, &text, CURLU_DEFAULT_PORT) == CURLUE_OK ? text : NULL;
}

/* Parses a proxy URL. "user:password@" ends at the last "@", because a password may contain "@"
 * without a %XX escape. */
static int proxy_read(const char *text, struct proxy *ret, struct error *err) {
    static const char *const schemes[] = {"http", "https", "socks5", "socks5h"};
    const char *start = strstr(text, "://"), *authority = start ? start + 3 : text;
    struct http_authority parts = http_authority_split(authority);
    _cleanup_(freep) char *shown = http_shown_proxy(text);
    _cleanup_(freep) char *bare =
        xasprintf("%.*s%.*s", start ? (int)(authority - text) : 7, start ? text : "http://",
                  (int)(parts.end - parts.host), parts.host);
    char *scheme = NULL, *host = NULL, *port = NULL;
    CURLU *url = curl_url();

    if (!url)
        abort(); /* curl_url() fails only when memory is exhausted. */
    if (curl_url_set(url, CURLUPART_URL, bare, CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK) {
        scheme = part_of(url, CURLUPART_SCHEME);
        host = part_of(url, CURLUPART_HOST);
        port = part_of(url, CURLUPART_PORT);
    }
    /* Do as Go's programs on the node do: for an http proxy without a port they use port 80 where
     * libcurl uses 1080, and a SOCKS proxy resolves the host names. */
    for (size_t i = 0; i < ARRAY_SIZE(schemes) && host && !ret->url; i++)
        if (text_equal(scheme, schemes[i]))
            ret->url = xasprintf("%s://%s%s%s", i == 2 ? "socks5h" : scheme, host, port ? ":" : "",
                                 port ? port : "");
    curl_free(scheme);
    curl_free(host);
    curl_free(port);
    curl_url_cleanup(url);
    if (!ret->url)
        return error_set(err, ERROR_USAGE,
                         "proxy '%s': it must be http, https or socks5 with a host and a "
                         "port, like http://proxy.example:3128",
                         shown);
    if (parts.login_end) {
        size_t len = (size_t)(parts.login_end - authority), user = strcspn(authority, ":");

        ret->user = xstrndup(authority, user < len ? user : len);
        ret->password = user < len ? xstrndup(authority + user + 1, len - user - 1) : xstrdup("");
    }
    return 0;
}

int http_proxy_url_check(const char *url, struct error *err) {
    _cleanup_(proxy_clear) struct proxy proxy = {0};
    _cleanup_(freep) char *lower = text_lower(url);

    if (!strstr(url, "://") || text_starts_with(lower, "socks5h:"))
        return error_set(err, ERROR_USAGE,
                         "kubeconfig: proxy-url: its scheme must be http, https or socks5");
    return proxy_read(url, &proxy, err);
}

int http_curl_proxy(void *easy, const struct http_request *request, char **ret_shown,
                    struct error *err) {
    _cleanup_(secret_freep) char *chosen =
        request->proxy ? xstrdup(request->proxy) : http_environment_proxy(request->url);
    _cleanup_(proxy_clear) struct proxy proxy = {0};

    if (chosen && *chosen && proxy_read(chosen, &proxy, err) < 0)
        return -1;
    /* An empty string disables libcurl's own reading of the environment. */
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
    curl_easy_setopt(easy, CURLOPT_PROXY, proxy.url ? proxy.url : "");
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    if (proxy.url && text_starts_with(proxy.url, "https:"))
        http_curl_trust_machine(easy, CURLOPT_PROXY_CAINFO_BLOB);
    if (proxy.user) {
        _cleanup_(secret_freep) char *user = curl_easy_unescape(easy, proxy.user, 0, NULL);
        _cleanup_(secret_freep) char *password = curl_easy_unescape(easy, proxy.password, 0, NULL);

        curl_easy_setopt(easy, CURLOPT_PROXYUSERNAME, user);
        curl_easy_setopt(easy, CURLOPT_PROXYPASSWORD, password);
    }
    *ret_shown = take_ptr(proxy.url);
    return 0;
}
