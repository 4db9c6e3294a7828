/* What a client of HTTP/2 asks, read by nghttp2's server side. */
#pragma once

#include <nghttp2/nghttp2.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/text.h"

struct http2_request {
    struct text headers; /* ":path: /x.Y/Z\n..." */
    struct text body;
    bool whole;
};

static inline void http2_request_free(struct http2_request *request) {
    text_free(&request->headers);
    text_free(&request->body);
}

static inline int http2_request_header(nghttp2_session *, const nghttp2_frame *,
                                       const uint8_t *name, size_t, const uint8_t *value, size_t,
                                       uint8_t, void *context) {
    struct http2_request *request = context;

    text_addf(&request->headers, "%s: %s\n", (const char *)name, (const char *)value);
    return 0;
}

static inline int http2_request_data(nghttp2_session *, uint8_t, int32_t, const uint8_t *data,
                                     size_t len, void *context) {
    struct http2_request *request = context;

    text_add_bytes(&request->body, data, len);
    return 0;
}

static inline int http2_request_frame(nghttp2_session *, const nghttp2_frame *frame,
                                      void *context) {
    struct http2_request *request = context;

    request->whole |= frame->hd.type == NGHTTP2_DATA && frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    return 0;
}

/* The first request of a connection, of which `said` is the beginning; http2_request_free(). */
static inline void http2_request_read(const void *said, size_t len, struct http2_request *ret) {
    nghttp2_session_callbacks *callbacks = NULL;
    nghttp2_session *session = NULL;

    if (nghttp2_session_callbacks_new(&callbacks) != 0)
        abort();
    nghttp2_session_callbacks_set_on_header_callback(callbacks, http2_request_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, http2_request_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, http2_request_frame);
    if (nghttp2_session_server_new(&session, callbacks, ret) != 0)
        abort();
    (void)nghttp2_session_mem_recv(session, said, len);
    nghttp2_session_del(session);
    nghttp2_session_callbacks_del(callbacks);
}
