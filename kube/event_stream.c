/* Splits the stream of a watch into events. */
#include "kube/event_stream.h"

enum { HEAD = 4 }; /* The bytes of a frame's length field. */

void event_stream_begin(struct event_stream *s) {
    s->form = STREAM_NEW;
    s->words = false;
    error_clear(&s->why);
    s->piece.cap = EVENT_LINE_MAX;
    text_clear(&s->piece);
}

/* Reads a complete event and clears the builder. If it is not an event, the bytes and all that
 * follow stay in the builder for the error message, and it is not read again. */
static void read_event(struct event_stream *s, json_t **ret) {
    int result =
        s->form == STREAM_LINES
            ? json_read(s->piece.data, s->piece.len, "event", ret, &s->why)
            : kube_protobuf_read_event(s->piece.data + HEAD, s->piece.len - HEAD, ret, &s->why);

    if (result == 0 && json_text_at(*ret, "type")) {
        text_clear(&s->piece);
        return;
    }
    if (result == 0)
        (void)error_set(&s->why, ERROR_MALFORMED, "decode event: it has no type");
    json_decref(*ret);
    *ret = NULL;
    s->words = true;
    if (s->form == STREAM_FRAMES) /* Binary data is useless in an error message. */
        text_clear(&s->piece);
}

static size_t length_of(const char *head) {
    const unsigned char *b = (const unsigned char *)head;

    return (size_t)b[0] << 24 | (size_t)b[1] << 16 | (size_t)b[2] << 8 | b[3];
}

/* Takes bytes up to the end of one event. The first byte shows the form: a JSON line begins with a
 * brace, a Protobuf frame with a zero byte of its length. A Protobuf Status, the answer to a
 * refused watch, begins with 'k' and is kept as it is. */
size_t event_stream_take(struct event_stream *s, const char *data, size_t len, json_t **ret) {
    size_t n = len, wanted;

    *ret = NULL;
    if (s->form == STREAM_NEW)
        s->form = !*data ? STREAM_FRAMES : *data == 'k' ? STREAM_OBJECT : STREAM_LINES;
    if (s->form == STREAM_OBJECT) {
        s->words = true;
        text_add_bytes(&s->piece, data, len);
        return len;
    }
    if (s->form == STREAM_LINES) {
        const char *newline = memchr(data, '\n', len);

        n = newline ? (size_t)(newline - data) : len;
        text_add_bytes(&s->piece, data, n);
        if (newline && !s->words && s->piece.len && !s->piece.overflow)
            read_event(s, ret);
        return n + (newline != NULL);
    }

    /* A frame begins with its length, followed by that number of bytes. */
    wanted = HEAD + (s->piece.len < HEAD ? 0 : length_of(s->piece.data));
    s->piece.overflow = wanted > EVENT_FRAME_MAX;
    if (s->piece.overflow || s->words)
        return len;
    if (wanted - s->piece.len < len)
        n = wanted - s->piece.len;
    text_add_bytes(&s->piece, data, n);
    if (s->piece.len >= HEAD && s->piece.len == HEAD + length_of(s->piece.data))
        read_event(s, ret);
    return n;
}
