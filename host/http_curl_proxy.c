/* HTTP on libcurl: the way through a proxy, chosen here and not by libcurl. */
#include <curl/curl.h> /* first: it may bring <windows.h> along (base/error.h) */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "host/http_curl.h"
#include "host/http_ops.h"

int http_curl_proxy(void *easy, const struct http_request *request, char **ret_shown,
                    struct error *err) {
    const char *given = request->proxy;
    _cleanup_(freep) char *proxy =
        given ? (*given ? http_proxy_complete(given) : NULL) : http_environment_proxy(request->url);
    _cleanup_(freep) char *shown = NULL;
    _cleanup_(secret_freep) char *encoded = NULL;

    if (proxy && (given ? http_proxy_url_check(given, err) : http_proxy_check(proxy, err)) < 0)
        return -1;
    shown = proxy ? http_shown_proxy(proxy) : NULL;
    encoded = proxy ? http_proxy_encoded(proxy) : NULL;

    /* libcurl's own reading of the environment differs from Go's: "" switches it off. */
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
    curl_easy_setopt(easy, CURLOPT_PROXY, encoded ? encoded : "");
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    *ret_shown = take_ptr(shown);
    return 0;
}
