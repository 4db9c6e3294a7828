/* gRPC over HTTP/2, as much as a client needs that makes one call a connection. */
#include "services/grpc.h"

#include <ctype.h>

#include "services/hpack.h"

/* RFC 9113 section 6, in its order; what is not looked at is named for the numbers' sake. */
enum frame_type {
    DATA,
    HEADERS,
    PRIORITY,
    RST_STREAM,
    SETTINGS,
    PUSH_PROMISE,
    PING,
    GOAWAY,
    WINDOW_UPDATE,
    CONTINUATION,
};
enum { END_STREAM = 1, ACK = 1, END_HEADERS = 4, PADDED = 8, WEIGHTED = 32, WEIGHT_LEN = 5 };
enum { HEADER_LEN = 9, FRAME_MAX = 16384, PREFIX_LEN = 5, PING_LEN = 8, STREAM = 1 };
/* Of an answer: the list of a node's pods is some hundred kilobytes at most. */
enum { ANSWER_MAX = 8 * 1024 * 1024, HEADERS_MAX = 64 * 1024 };

struct answer {
    struct text unread;  /* the beginning of a frame that is not whole */
    struct text headers; /* a block of them that is not whole */
    struct text message; /* behind gRPC's five bytes */
    struct text reason;  /* grpc-message */
    long long status;    /* grpc-status; -1: not told yet */
    bool last, ended;    /* the server's last frame has begun, is whole */
};

static void answer_free(struct answer *answer) {
    text_free(&answer->unread);
    text_free(&answer->headers);
    text_free(&answer->message);
    text_free(&answer->reason);
}

struct frame {
    unsigned type, flags;
    uint32_t stream;
    const unsigned char *payload;
    size_t len;
};

static void add_number(struct text *t, uint32_t value, unsigned bytes) {
    while (bytes--)
        text_add_char(t, (char)(value >> 8 * bytes & 0xff));
}

static void add_frame(struct text *t, enum frame_type type, unsigned flags, uint32_t stream,
                      const void *payload, size_t len) {
    add_number(t, (uint32_t)len, 3);
    add_number(t, type, 1);
    add_number(t, flags, 1);
    add_number(t, stream, 4);
    text_add_bytes(t, payload, len);
}

/* RFC 7541 6.2.2: a literal that nobody indexes; its name is one of the static table's (`index`)
 * or, with 0, follows. Everything is shorter than 127 bytes. */
static void add_header(struct text *t, unsigned index, const char *name, const char *value) {
    if (index < 15) {
        add_number(t, index, 1);
    } else {
        add_number(t, 15, 1);
        add_number(t, index - 15, 1);
    }
    if (!index) {
        add_number(t, (uint32_t)strlen(name), 1);
        text_add(t, name);
    }
    add_number(t, (uint32_t)strlen(value), 1);
    text_add(t, value);
}

static void add_headers(struct text *t, const char *method) {
    _cleanup_(text_free) struct text block = {0};

    add_number(&block, 0x83, 1); /* :method POST */
    add_number(&block, 0x86, 1); /* :scheme http */
    add_header(&block, 4, ":path", method);
    add_header(&block, 1, ":authority", "localhost");
    add_header(&block, 31, "content-type", "application/grpc");
    add_header(&block, 0, "te", "trailers");
    add_frame(t, HEADERS, END_HEADERS, STREAM, text_str(&block), block.len);
}

/* Everything that the client says unasked: preface, settings, the request. */
static void add_call(struct text *t, const char *method, const struct text *request) {
    /* no table for compressed headers, no push, room for the whole answer in the stream's window */
    static const char settings[] = "\0\1\0\0\0\0"
                                   "\0\2\0\0\0\0"
                                   "\0\4\0\x80\0\0";
    _cleanup_(text_free) struct text data = {0};

    text_add(t, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    add_frame(t, SETTINGS, 0, 0, settings, sizeof settings - 1);
    add_frame(t, WINDOW_UPDATE, 0, 0, "\0\x80\0\0", 4); /* the connection's, too */
    add_headers(t, method);
    add_number(&data, 0, 1); /* not compressed */
    add_number(&data, (uint32_t)request->len, 4);
    text_add_bytes(&data, text_str(request), request->len);
    add_frame(t, DATA, END_STREAM, STREAM, text_str(&data), data.len);
}

static uint32_t number_at(const unsigned char *at, unsigned bytes) {
    uint32_t value = 0;

    while (bytes--)
        value = value << 8 | *at++;
    return value;
}

/* gRPC writes what is not printable ASCII as %XX. */
static void add_decoded(struct text *t, const char *s) {
    for (; *s; s++) {
        char digits[] = {*s == '%' ? s[1] : '\0', s[1] ? s[2] : '\0', '\0'};
        bool coded = isxdigit((unsigned char)digits[0]) && isxdigit((unsigned char)digits[1]);

        text_add_char(t, coded ? (char)strtoul(digits, NULL, 16) : *s);
        s += coded ? 2 : 0;
    }
}

/* A status that is not a number is not shown. */
static void take_field(void *context, const char *name, const char *value) {
    struct answer *answer = context;

    if (text_equal(name, "grpc-status"))
        (void)text_to_number(value, 0, INT32_MAX, &answer->status); /* -1 stays then */
    if (text_equal(name, "grpc-message"))
        add_decoded(&answer->reason, value);
}

static int take_content(struct answer *answer, const struct frame *frame, struct error *err) {
    struct text *t = frame->type == DATA ? &answer->message : &answer->headers;
    size_t max = frame->type == DATA ? ANSWER_MAX : HEADERS_MAX, before = 0, behind = 0;

    if (frame->type != CONTINUATION && frame->flags & PADDED) {
        before = 1;
        behind = frame->len ? frame->payload[0] : 0;
    }
    if (frame->type == HEADERS && frame->flags & WEIGHTED)
        before += WEIGHT_LEN;
    if (before + behind > frame->len)
        return error_set(err, ERROR_MALFORMED, "read a gRPC answer: invalid padding");
    if (t->len + frame->len > max)
        return error_set(err, ERROR_MALFORMED, "read a gRPC answer: longer than %zu bytes", max);
    text_add_bytes(t, frame->payload + before, frame->len - before - behind);
    if (frame->type == DATA || !(frame->flags & END_HEADERS))
        return 0;
    if (hpack_read(text_str(t), t->len, take_field, answer, err) < 0)
        return error_prefix(err, "read a gRPC answer");
    text_clear(t);
    return 0;
}

static int take_ours(struct answer *answer, const struct frame *frame, struct error *err) {
    if (frame->type == RST_STREAM)
        return error_set(err, ERROR_HOST, "the server canceled the call");
    if (frame->type != DATA && frame->type != HEADERS && frame->type != CONTINUATION)
        return 0;
    if (take_content(answer, frame, err) < 0)
        return -1;
    answer->last |= frame->type != CONTINUATION && frame->flags & END_STREAM;
    answer->ended = answer->last && !answer->headers.len;
    return 0;
}

static int take_frame(struct answer *answer, const struct frame *frame, struct text *reply,
                      struct error *err) {
    if (frame->type == PUSH_PROMISE || (frame->type == PING && frame->len != PING_LEN))
        return error_set(err, ERROR_MALFORMED, "read a gRPC answer: invalid frame of type %u",
                         frame->type);
    if (frame->type == SETTINGS && !(frame->flags & ACK))
        add_frame(reply, SETTINGS, ACK, 0, "", 0);
    if (frame->type == PING && !(frame->flags & ACK))
        add_frame(reply, PING, ACK, 0, frame->payload, frame->len);
    return frame->stream == STREAM ? take_ours(answer, frame, err) : 0;
}

static int heard(void *context, const void *data, size_t len, struct text *reply, bool *ret_done,
                 struct error *err) {
    struct answer *answer = context;
    const unsigned char *at;
    size_t left, taken;
    _cleanup_(text_free) struct text input = answer->unread;

    answer->unread = (struct text){0};
    text_add_bytes(&input, data, len);
    at = (const unsigned char *)text_str(&input);
    for (left = input.len; left >= HEADER_LEN && !answer->ended; left -= taken, at += taken) {
        struct frame frame = {at[3], at[4], number_at(at + 5, 4) & 0x7fffffff, at + HEADER_LEN,
                              number_at(at, 3)};

        taken = HEADER_LEN + frame.len;
        if (frame.len > FRAME_MAX)
            return error_set(err, ERROR_MALFORMED, "read a gRPC answer: not HTTP/2");
        if (left < taken)
            break;
        if (take_frame(answer, &frame, reply, err) < 0)
            return -1;
    }
    text_add_bytes(&answer->unread, at, left);
    *ret_done = answer->ended;
    return 0;
}

/* google.golang.org/grpc/codes. */
static const char *status_name(long long status) {
    static const char *const names[] = {[1] = "CANCELLED",           [2] = "UNKNOWN",
                                        [3] = "INVALID_ARGUMENT",    [4] = "DEADLINE_EXCEEDED",
                                        [5] = "NOT_FOUND",           [6] = "ALREADY_EXISTS",
                                        [7] = "PERMISSION_DENIED",   [8] = "RESOURCE_EXHAUSTED",
                                        [9] = "FAILED_PRECONDITION", [10] = "ABORTED",
                                        [11] = "OUT_OF_RANGE",       [12] = "UNIMPLEMENTED",
                                        [13] = "INTERNAL",           [14] = "UNAVAILABLE",
                                        [15] = "DATA_LOSS",          [16] = "UNAUTHENTICATED"};

    return status < (long long)ARRAY_SIZE(names) ? names[status] : "an unknown code";
}

/* What counts is the status: there may be data before a failure. */
static int judge(const struct answer *answer, struct text *ret, struct error *err) {
    const unsigned char *at = (const unsigned char *)text_str(&answer->message);
    size_t len = answer->message.len;

    if (answer->status < 0)
        return error_set(err, ERROR_MALFORMED, "read a gRPC answer: no status in it");
    if (answer->status > 0)
        return error_set(err, ERROR_HOST, "the server refuses the call: %s%s%s",
                         status_name(answer->status), answer->reason.len ? ": " : "",
                         text_str(&answer->reason));
    if (len < PREFIX_LEN || at[0] != 0 || number_at(at + 1, 4) != len - PREFIX_LEN)
        return error_set(err, ERROR_MALFORMED, "read a gRPC answer: incomplete message");
    text_add_bytes(ret, at + PREFIX_LEN, len - PREFIX_LEN);
    return 0;
}

int grpc_call(struct host *host, const char *pipe, const char *method, const struct text *request,
              unsigned timeout_ms, struct text *ret, struct error *err) {
    _cleanup_(answer_free) struct answer answer = {.status = -1};
    _cleanup_(text_free) struct text first = {0};
    struct host_pipe_talk talk = {.heard = heard, .context = &answer, .timeout_ms = timeout_ms};

    add_call(&first, method, request);
    talk.first = text_str(&first);
    talk.first_len = first.len;
    if (host_pipe_talk(host, pipe, &talk, err) < 0)
        return -1;
    return judge(&answer, ret, err);
}
