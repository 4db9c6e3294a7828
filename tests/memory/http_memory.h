/* HTTP in memory for unit tests and fuzz targets. */
#pragma once

#include "host/http.h"

/* Answers a request as http_perform() does: fills ret, or err and returns -1. */
typedef int http_answer(void *context, const struct http_request *request,
                        struct http_response *ret, struct error *err);
/* Answers come from the function; streaming and size limits as over the wire.
 * http_free(). */
struct http *http_memory_new(http_answer *answer, void *context);
/* Requests answered so far. */
size_t http_memory_requests(const struct http *http);
/* The n-th request from now (1 = next) is not answered: ERROR_NETWORK when `status` is 0, else that
 * status and no JSON; 0 = each is. */
void http_memory_fail(struct http *http, size_t n, unsigned status);

/* What the server says, piece by piece, each handed to the conversation; NULL with
 * length 0: it is silent for once, with another: it hangs up. `said`: all that it was told. */
typedef const char *http_memory_say(void *context, const struct text *said, size_t *ret_len);
void http_memory_on_talk(struct http *http, http_memory_say *say, void *context);
