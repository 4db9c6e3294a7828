/* Sets a request on a libcurl handle: method, body, headers. */
#include <curl/curl.h>

#include "host/curl/http_curl.h"

static void set_method(CURL *easy, const struct http_request *request) {
    const char *method = request->method ? request->method : "GET";

    if (request->body || strcmp(method, "POST") == 0) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_len);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request->body ? request->body : "");
    }
    if (strcmp(method, "HEAD") == 0)
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    else if (strcmp(method, "GET") != 0 || request->body)
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method);
}

void *http_curl_ask(void *easy, const struct http_request *request, void *headers) {
    _cleanup_(freep) char *type = xasprintf(
        "Content-Type: %s", request->content_type ? request->content_type : "application/json");
    _cleanup_(freep) char *accept =
        xasprintf("Accept: %s", request->accept ? request->accept : "application/json, */*");
    char range[32];

    set_method(easy, request);
    headers = curl_slist_append(headers, accept);
    headers = curl_slist_append(headers, "Expect:");
    if (request->body)
        headers = curl_slist_append(headers, type);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    if (request->bearer_token) { /* this way, not as a header: libcurl keeps it to this host */
        curl_easy_setopt(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
        curl_easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, request->bearer_token);
    }
    if (request->range_begin &&
        text_format(range, sizeof range, "%llu-", (unsigned long long)request->range_begin) == 0)
        curl_easy_setopt(easy, CURLOPT_RANGE, range);
    return headers;
}
