/* Makes gRPC calls (grpc/doc/PROTOCOL-HTTP2.md) with nghttp2, one per connection. */
#include "services/grpc.h"

#include <ctype.h>
#include <nghttp2/nghttp2.h>

enum { TURN_MS = 200 };
enum { PREFIX_LEN = 5 }; /* Prefix of a message: compressed flag and length. */
/* The list of a node's Pods has some hundred kilobytes at most. */
enum { ANSWER_MAX = 8 * 1024 * 1024 };

struct grpc_call {
    char *path; /* Path of the named pipe. */
    struct host_pipe *pipe;
    nghttp2_session *session;
    struct text request, message; /* Request and answer, each with its prefix. */
    size_t sent;                  /* Bytes of the request that were sent. */
    struct text reason;           /* Value of grpc-message. */
    struct text fault;            /* Error in the server's bytes, in the words of nghttp2. */
    long long status;             /* Value of grpc-status; -1 until it is received. */
    bool ended, canceled, too_long;
};

/* ---- callbacks of nghttp2 ---- */

static ssize_t read_request(nghttp2_session *, int32_t, uint8_t *ret, size_t room, uint32_t *flags,
                            nghttp2_data_source *source, void *) {
    struct grpc_call *call = source->ptr;
    size_t left = call->request.len - call->sent, len = left < room ? left : room;

    memcpy(ret, text_str(&call->request) + call->sent, len);
    call->sent += len;
    if (len == left)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)len;
}

/* Ignores a status that is no number. grpc-message has %XX for unprintable bytes. */
static int on_header(nghttp2_session *, const nghttp2_frame *, const uint8_t *name, size_t,
                     const uint8_t *value, size_t, uint8_t, void *context) {
    struct grpc_call *call = context;
    bool is_message = text_equal((const char *)name, "grpc-message");

    if (text_equal((const char *)name, "grpc-status"))
        /* On failure the status stays -1. */
        (void)text_to_number((const char *)value, 0, INT32_MAX, &call->status);
    for (const char *s = is_message ? (const char *)value : ""; *s; s++) {
        char digits[] = {*s == '%' ? s[1] : '\0', s[1] ? s[2] : '\0', '\0'};
        bool coded = isxdigit((unsigned char)digits[0]) && isxdigit((unsigned char)digits[1]);

        text_add_char(&call->reason, coded ? (char)strtoul(digits, NULL, 16) : *s);
        s += coded ? 2 : 0;
    }
    return 0;
}

static int on_data(nghttp2_session *, uint8_t, int32_t, const uint8_t *data, size_t len,
                   void *context) {
    struct grpc_call *call = context;

    call->too_long = call->message.len + len > ANSWER_MAX;
    if (call->too_long)
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    text_add_bytes(&call->message, data, len);
    return 0;
}

/* A reset with NO_ERROR is no failure: after its answer a server may say that it needs no more of
 * the request (RFC 9113, 8.1). */
static int on_heard(nghttp2_session *, const nghttp2_frame *frame, void *context) {
    struct grpc_call *call = context;

    call->canceled |= frame->hd.type == NGHTTP2_RST_STREAM && !call->ended &&
                      frame->rst_stream.error_code != NGHTTP2_NO_ERROR;
    return 0;
}

/* When nghttp2 ends the connection, its GOAWAY frame to the server says why. */
static int on_said(nghttp2_session *, const nghttp2_frame *frame, void *context) {
    struct grpc_call *call = context;

    if (frame->hd.type == NGHTTP2_GOAWAY)
        text_addf(&call->fault, "%s%s%.*s", nghttp2_http2_strerror(frame->goaway.error_code),
                  frame->goaway.opaque_data_len ? ": " : "", (int)frame->goaway.opaque_data_len,
                  (const char *)frame->goaway.opaque_data);
    return 0;
}

static int on_end(nghttp2_session *, int32_t, uint32_t error, void *context) {
    struct grpc_call *call = context;

    call->ended = true;
    if (error != NGHTTP2_NO_ERROR && !call->fault.len)
        text_add(&call->fault, nghttp2_http2_strerror(error));
    return 0;
}

/* ---- sending and receiving ---- */

static void add_unsaid(struct grpc_call *call, struct text *t) {
    const uint8_t *data;
    ssize_t len;

    while ((len = nghttp2_session_mem_send(call->session, &data)) > 0)
        text_add_bytes(t, data, (size_t)len);
}

#define FIELD(name, value)                                                                         \
    { (uint8_t *)(name), (uint8_t *)(value), strlen(name), strlen(value), NGHTTP2_NV_FLAG_NONE }

static int heard(void *context, const void *data, size_t len, struct text *reply, bool *ret_done,
                 struct error *err) {
    struct grpc_call *call = context;
    ssize_t taken = nghttp2_session_mem_recv(call->session, data, len);

    if (call->too_long)
        return error_set(err, ERROR_MALFORMED, "read a gRPC answer: longer than %d bytes",
                         ANSWER_MAX);
    if (taken < 0)
        return error_set(err, ERROR_MALFORMED, "read a gRPC answer: %s",
                         nghttp2_strerror((int)taken));
    add_unsaid(call, reply);
    if (call->canceled)
        return error_set(err, ERROR_HOST, "the server canceled the call");
    if (call->fault.len)
        return error_set(err, ERROR_MALFORMED, "read a gRPC answer: not HTTP/2: %s",
                         text_str(&call->fault));
    *ret_done = call->ended;
    return 0;
}

int grpc_begin(struct host *host, const char *pipe, const char *method, const struct text *request,
               unsigned timeout_ms, struct grpc_call **ret, struct error *err) {
    struct grpc_call *call = xcalloc(1, sizeof *call);
    const nghttp2_nv fields[] = {
        FIELD(":method", "POST"),
        FIELD(":scheme", "http"),
        FIELD(":path", method),
        FIELD(":authority", "localhost"),
        FIELD("te", "trailers"),
        FIELD("content-type", "application/grpc"),
        /* The namespace for containerd's own services; CRI always uses k8s.io. */
        FIELD("containerd-namespace", "k8s.io"),
    };
    const nghttp2_settings_entry no_push = {NGHTTP2_SETTINGS_ENABLE_PUSH, 0};
    const nghttp2_data_provider body = {.source = {.ptr = call}, .read_callback = read_request};
    struct host_pipe_talk talk = {.heard = heard, .context = call, .timeout_ms = timeout_ms};
    nghttp2_session_callbacks *callbacks = NULL;
    _cleanup_(text_free) struct text first = {0};

    call->path = xstrdup(pipe);
    call->status = -1;
    text_add_char(&call->request, 0); /* The message is not compressed. */
    for (int shift = 24; shift >= 0; shift -= 8)
        text_add_char(&call->request, (char)(request->len >> shift & 0xff));
    text_add_bytes(&call->request, text_str(request), request->len);

    if (nghttp2_session_callbacks_new(&callbacks) != 0)
        abort(); /* The only possible failure is a lack of memory. */
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_heard);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_said);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_end);
    if (nghttp2_session_client_new(&call->session, callbacks, call) != 0 ||
        nghttp2_submit_settings(call->session, NGHTTP2_FLAG_NONE, &no_push, 1) != 0 ||
        nghttp2_submit_request(call->session, NULL, fields, ARRAY_SIZE(fields), &body, NULL) < 0)
        abort();
    nghttp2_session_callbacks_del(callbacks);
    add_unsaid(call, &first);

    talk.first = text_str(&first);
    talk.first_len = first.len;
    if (host_pipe_open(host, call->path, &talk, &call->pipe, err) < 0) {
        grpc_end(host, call);
        return -1;
    }
    *ret = call;
    return 0;
}

/* The status decides about an answer, since data may come before a failure. */
int grpc_turn(struct host *host, struct grpc_call *call, unsigned wait_ms, bool *ret_done,
              struct text *ret, struct error *err) {
    /* Names from google.golang.org/grpc/codes. */
    static const char *const names[] = {[1] = "CANCELLED",           [2] = "UNKNOWN",
                                        [3] = "INVALID_ARGUMENT",    [4] = "DEADLINE_EXCEEDED",
                                        [5] = "NOT_FOUND",           [6] = "ALREADY_EXISTS",
                                        [7] = "PERMISSION_DENIED",   [8] = "RESOURCE_EXHAUSTED",
                                        [9] = "FAILED_PRECONDITION", [10] = "ABORTED",
                                        [11] = "OUT_OF_RANGE",       [12] = "UNIMPLEMENTED",
                                        [13] = "INTERNAL",           [14] = "UNAVAILABLE",
                                        [15] = "DATA_LOSS",          [16] = "UNAUTHENTICATED"};
    const unsigned char *at;
    size_t len;

    if (host_pipe_turn(host, call->pipe, wait_ms, ret_done, err) < 0)
        return -1;
    if (!*ret_done)
        return 0;
    if (call->status < 0)
        return error_set(err, ERROR_MALFORMED, "read a gRPC answer: no status in it");
    if (call->status > 0)
        return error_set(err, ERROR_HOST, "the server refuses the call: %s%s%s",
                         call->status < (long long)ARRAY_SIZE(names) ? names[call->status]
                                                                     : "an unknown code",
                         call->reason.len ? ": " : "", text_str(&call->reason));
    at = (const unsigned char *)text_str(&call->message);
    len = call->message.len;
    if (len < PREFIX_LEN || at[0] != 0 ||
        ((size_t)at[1] << 24 | at[2] << 16 | at[3] << 8 | at[4]) != len - PREFIX_LEN)
        return error_set(err, ERROR_MALFORMED, "read a gRPC answer: incomplete message");
    text_add_bytes(ret, at + PREFIX_LEN, len - PREFIX_LEN);
    return 0;
}

void grpc_end(struct host *host, struct grpc_call *call) {
    if (call->pipe)
        host_pipe_close(host, call->pipe);
    nghttp2_session_del(call->session);
    text_free(&call->request);
    text_free(&call->message);
    text_free(&call->reason);
    text_free(&call->fault);
    free(call->path);
    free(call);
}

int grpc_call(struct host *host, const char *pipe, const char *method, const struct text *request,
              unsigned timeout_ms, struct text *ret, struct error *err) {
    struct grpc_call *call = NULL;
    bool done = false;
    int result = grpc_begin(host, pipe, method, request, timeout_ms, &call, err);

    if (result < 0)
        return -1;
    while (!done && result == 0)
        result = grpc_turn(host, call, TURN_MS, &done, ret, err);
    grpc_end(host, call);
    return result;
}
