/* What fuzz targets share whose input is a server's answer. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "host/http.h"

/* The input: what the server says. */
struct answer {
    const char *data;
    size_t len;
};

/* 200 with these bytes as JSON. */
static inline int answer_with(struct http_response *ret, const char *data, size_t len) {
    ret->status = 200;
    ret->retry_after = -1;
    ret->content_type = xstrdup("application/json");
    ret->body = xmalloc(len + 1);
    memcpy(ret->body, data, len);
    ret->body[len] = '\0';
    ret->body_len = len;
    return 0;
}

/* For http_memory_new(): the input to every request. */
static inline int answer_everybody(void *context, const struct http_request *request,
                                   struct http_response *ret, struct error *err) {
    const struct answer *answer = context;

    (void)err, (void)request; /* the same for everybody */
    return answer_with(ret, answer->data, answer->len);
}
