/* What the head of an answer says. */
#include <curl/curl.h>

#include <errno.h> /* first: it may bring <windows.h> along (base/error.h) */
#include "host/curl/http_curl.h"

enum { RETRY_MAX_S = 86400 };

/* libcurl takes the last of them; another reader on the way takes the first, and cuts there. */
bool http_curl_has_two_lengths(void *easy) {
    struct curl_header *header;
    const char *first = NULL;

    for (size_t i = 0; curl_easy_header(easy, "Content-Length", i, CURLH_HEADER, -1, &header) == 0;
         i++) {
        if (first && !text_equal(first, header->value))
            return true;
        first = header->value;
    }
    return false;
}

/* "bytes 100-199/200" */
static int64_t range_begin(CURL *easy) {
    struct curl_header *header;
    _cleanup_(freep) char *first = NULL;
    long long begin;

    if (curl_easy_header(easy, "Content-Range", 0, CURLH_HEADER, -1, &header) != CURLHE_OK ||
        !text_starts_with(header->value, "bytes "))
        return -1;
    first = xstrndup(header->value + 6, strcspn(header->value + 6, "-"));
    return text_to_number(first, 0, INT64_MAX, &begin) == 0 ? begin : -1;
}

/* Of the server that was asked: one that it redirects to has no say. */
static char *challenge(CURL *easy) {
    struct curl_header *header;
    struct text all = {0};
    long redirects = 0;

    (void)curl_easy_getinfo(easy, CURLINFO_REDIRECT_COUNT, &redirects);
    for (size_t i = 0; !redirects && curl_easy_header(easy, "WWW-Authenticate", i, CURLH_HEADER, -1,
                                                      &header) == CURLHE_OK;
         i++)
        text_addf(&all, "%s%s", i ? ", " : "", header->value);
    return all.len ? text_take(&all) : NULL;
}

void http_curl_head(void *easy, struct http_response *response) {
    struct curl_header *date;
    const char *type = NULL;
    curl_off_t after = 0, length = -1;
    time_t at = -1;

    (void)curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &response->status);
    (void)curl_easy_getinfo(easy, CURLINFO_CONTENT_TYPE, &type);
    (void)curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &after);
    (void)curl_easy_getinfo(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    if (curl_easy_header(easy, "Date", 0, CURLH_HEADER, -1, &date) == CURLHE_OK)
        at = curl_getdate(date->value, NULL);
    free(response->content_type); /* told to on_head */
    response->content_type = xstrdup_null(type);
    text_set(&response->challenge, challenge(easy));
    response->length = length;
    response->range_begin = range_begin(easy);
    response->retry_after = after > 0 && after <= RETRY_MAX_S ? (long)after : -1;
    response->date = at > 0 ? at : 0;
}

enum error_kind http_curl_kind(int code) {
    switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
        return ERROR_UNTRUSTED;
    case CURLE_OPERATION_TIMEDOUT:
        return ERROR_TIMED_OUT;
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_UNSUPPORTED_PROTOCOL: /* what came was no HTTP/1 */
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_TOO_MANY_REDIRECTS:
        return ERROR_MALFORMED;
    case CURLE_URL_MALFORMAT:
        return ERROR_USAGE;
    default:
        return ERROR_NETWORK;
    }
}

const char *http_curl_connect_reason(void *easy) {
    static const struct {
        long os; /* errno, or Winsock's number */
        const char *text;
    } reasons[] = {
        {ECONNREFUSED, "connection refused"},     {10061, "connection refused"},
        {EHOSTUNREACH, "no route to host"},       {10065, "no route to host"},
        {ENETUNREACH, "network is unreachable"},  {10051, "network is unreachable"},
        {ECONNRESET, "connection reset by peer"}, {10054, "connection reset by peer"},
    };
    long os = 0;

    (void)curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &os); /* 0: not known */
    for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
        if (os == reasons[i].os)
            return reasons[i].text;
    return NULL;
}
