/* The TLS half of HTTP on libcurl. Only host/http_curl*.c include this. */
#ifndef HOST_HTTP_CURL_H
#define HOST_HTTP_CURL_H

#include "host/http.h"

/* Both `easy` are a CURL handle. */

/* What the connection demands of the server: TLS 1.2, chain, dates and name. *name is what the
 * certificate must be valid for; it must live as long as the handle, free() after it. */
void http_curl_trust(void *easy, const struct http_request *request, char **name);
/* The chain that the server presented, as PEM; NULL when this connection was not made just now. */
char *http_curl_chain(void *easy);

#endif
