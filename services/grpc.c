/* gRPC over HTTP/2, as much as a client needs that makes one call a connection. */
#include "services/grpc.h"

#include <stdint.h>
#include <string.h>

#include "base/memory.h"

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
};
enum { END_STREAM = 1, ACK = 1, END_HEADERS = 4, PADDED = 8 };
enum { HEADER_LEN = 9, FRAME_MAX = 16384, PREFIX_LEN = 5, PING_LEN = 8, STREAM = 1 };
/* Of an answer: the list of a node's pods is some hundred kilobytes at most. */
enum { ANSWER_MAX = 8 * 1024 * 1024 };

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

int grpc_call_make(const char *method, const char *message, size_t len, struct text *ret,
                   struct error *err) {
    /* no table for compressed headers, no push, room for the whole answer in the stream's window */
    static const char settings[] = "\0\1\0\0\0\0"
                                   "\0\2\0\0\0\0"
                                   "\0\4\0\x80\0\0";
    _cleanup_(text_free) struct text data = {0};

    if (strlen(method) > GRPC_METHOD_MAX || len > GRPC_REQUEST_MAX)
        return error_set(err, ERROR_USAGE, "call '%s': too long", method);
    text_add(ret, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    add_frame(ret, SETTINGS, 0, 0, settings, sizeof settings - 1);
    add_frame(ret, WINDOW_UPDATE, 0, 0, "\0\x80\0\0", 4); /* the connection's, too */
    add_headers(ret, method);
    add_number(&data, 0, 1); /* not compressed */
    add_number(&data, (uint32_t)len, 4);
    text_add_bytes(&data, message, len);
    add_frame(ret, DATA, END_STREAM, STREAM, text_str(&data), data.len);
    return 0;
}

void grpc_answer_free(struct grpc_answer *answer) {
    text_free(&answer->unread);
    text_free(&answer->message);
}

static int take_data(struct grpc_answer *answer, const struct frame *frame, struct error *err) {
    const unsigned char *at = frame->payload;
    size_t len = frame->len;

    if (frame->flags & PADDED) {
        if (!len || at[0] >= len)
            return error_set(err, ERROR_MALFORMED, "read a gRPC answer: padding without end");
        len -= (size_t)at[0] + 1;
        at++;
    }
    if (answer->message.len + len > ANSWER_MAX)
        return error_set(err, ERROR_MALFORMED, "read a gRPC answer: longer than %d bytes",
                         ANSWER_MAX);
    text_add_bytes(&answer->message, at, len);
    return 0;
}

static uint32_t number_at(const unsigned char *at, unsigned bytes) {
    uint32_t value = 0;

    while (bytes--)
        value = value << 8 | *at++;
    return value;
}

/* A server that refuses sends headers alone (gRPC calls them trailers-only). */
static int end(struct grpc_answer *answer, struct error *err) {
    const unsigned char *at = (const unsigned char *)text_str(&answer->message);
    size_t len = answer->message.len;
    _cleanup_(text_free) struct text whole = {0};

    if (!len)
        return error_set(err, ERROR_HOST, "the server refuses the call");
    if (len < PREFIX_LEN || at[0] != 0 || number_at(at + 1, 4) != len - PREFIX_LEN)
        return error_set(err, ERROR_MALFORMED, "read a gRPC answer: it is no whole message");
    text_add_bytes(&whole, at + PREFIX_LEN, len - PREFIX_LEN);
    text_clear(&answer->message);
    text_add_bytes(&answer->message, text_str(&whole), whole.len);
    answer->ended = true;
    return 0;
}

static int take_ours(struct grpc_answer *answer, const struct frame *frame, struct error *err) {
    if (frame->type == RST_STREAM)
        return error_set(err, ERROR_HOST, "the server breaks the call off");
    if (frame->type == DATA && take_data(answer, frame, err) < 0)
        return -1;
    if ((frame->type == DATA || frame->type == HEADERS) && frame->flags & END_STREAM)
        return end(answer, err);
    return 0;
}

static int take_frame(struct grpc_answer *answer, const struct frame *frame, struct text *reply,
                      struct error *err) {
    if (frame->type == PUSH_PROMISE || (frame->type == PING && frame->len != PING_LEN))
        return error_set(err, ERROR_MALFORMED, "read a gRPC answer: frame of type %u is not right",
                         frame->type);
    if (frame->type == SETTINGS && !(frame->flags & ACK))
        add_frame(reply, SETTINGS, ACK, 0, "", 0);
    if (frame->type == PING && !(frame->flags & ACK))
        add_frame(reply, PING, ACK, 0, frame->payload, frame->len);
    return frame->stream == STREAM ? take_ours(answer, frame, err) : 0;
}

int grpc_answer_take(struct grpc_answer *answer, const void *data, size_t len, struct text *reply,
                     struct error *err) {
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
            return error_set(err, ERROR_MALFORMED, "read a gRPC answer: it is no HTTP/2");
        if (left < taken)
            break;
        if (take_frame(answer, &frame, reply, err) < 0)
            return -1;
    }
    text_add_bytes(&answer->unread, at, left);
    return 0;
}
