/* Reads the headers of an HTTP response and maps libcurl's results to error kinds. */
#include <curl/curl.h>

/* <curl/curl.h> comes first, because on Windows it includes <windows.h>, which must precede
 * base/error.h. */
#include <errno.h>
#include "host/curl/http_curl.h"

enum { RETRY_MAX_S = 86400 };

/* Detects different Content-Length headers. libcurl uses the last one, but a proxy may use the
 * first one and cut the answer there. */
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

void http_curl_head(void *easy, struct http_response *response) {
    _cleanup_(text_free) struct text challenges = {0};
    _cleanup_(freep) char *first = NULL;
    struct curl_header *header;
    const char *type = NULL;
    curl_off_t after = 0, length = -1;
    long long begin = -1;
    long redirects = 0;
    time_t at = -1;

    (void)curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &response->status);
    (void)curl_easy_getinfo(easy, CURLINFO_CONTENT_TYPE, &type);
    (void)curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &after);
    (void)curl_easy_getinfo(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    (void)curl_easy_getinfo(easy, CURLINFO_REDIRECT_COUNT, &redirects);
    if (curl_easy_header(easy, "Date", 0, CURLH_HEADER, -1, &header) == CURLHE_OK)
        at = curl_getdate(header->value, NULL);

    /* Use only challenges of the server that was asked, not of one that it redirected to. */
    for (size_t i = 0; !redirects && curl_easy_header(easy, "WWW-Authenticate", i, CURLH_HEADER, -1,
                                                      &header) == CURLHE_OK;
         i++)
        text_addf(&challenges, "%s%s", i ? ", " : "", header->value);
    text_set(&response->challenge, challenges.len ? text_take(&challenges) : NULL);

    if (curl_easy_header(easy, "Content-Range", 0, CURLH_HEADER, -1, &header) == CURLHE_OK &&
        text_starts_with(header->value, "bytes ")) { /* E.g. "bytes 100-199/200". */
        first = xstrndup(header->value + 6, strcspn(header->value + 6, "-"));
        /* `begin` remains -1 when the header's text is not a number. */
        (void)text_to_number(first, 0, INT64_MAX, &begin);
    }
    response->range_begin = begin;

    /* Free the value from an earlier call, which was passed to on_head. */
    free(response->content_type);
    response->content_type = xstrdup_null(type);
    response->length = length;
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
    case CURLE_UNSUPPORTED_PROTOCOL: /* The answer was not HTTP/1. */
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
        long os; /* errno or the Winsock error number. */
        const char *text;
    } reasons[] = {
        {ECONNREFUSED, "connection refused"},     {10061, "connection refused"},
        {EHOSTUNREACH, "no route to host"},       {10065, "no route to host"},
        {ENETUNREACH, "network is unreachable"},  {10051, "network is unreachable"},
        {ECONNRESET, "connection reset by peer"}, {10054, "connection reset by peer"},
    };
    long os = 0;

    /* `os` remains 0 when the number is not known. */
    (void)curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &os);
    for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
        if (os == reasons[i].os)
            return reasons[i].text;
    return NULL;
}
