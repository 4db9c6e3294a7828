/* Implements the opening handshake and the frames of a WebSocket. */
#include "kube/websocket.h"

#include "base/base64.h"
#include "pki/digest.h"

enum { CONTINUATION, TEXT, BINARY, CLOSE = 8, PING, PONG };
enum { FIN = 0x80, RESERVED = 0x70, OPCODE = 0x0f, MASKED = 0x80, LENGTH = 0x7f };
enum { LENGTH_16 = 126, LENGTH_64 = 127, CONTROL_MAX = 125, SWITCHING = 101 };

void websocket_free(struct websocket *ws) {
    free(ws->protocol);
    text_free(&ws->refusal);
    text_free(&ws->in);
    text_free(&ws->message);
    *ws = (struct websocket){0};
}

/* ---- the opening handshake ---- */

void websocket_open(struct websocket *ws, const char *host, const char *path, const char *headers,
                    const unsigned char nonce[WEBSOCKET_NONCE_LEN], uint32_t mask,
                    struct text *out) {
    _cleanup_(freep) char *key = base64_encode(nonce, WEBSOCKET_NONCE_LEN);

    text_format(ws->key, sizeof ws->key, "%s", key);
    ws->mask = mask;
    ws->in.cap = WEBSOCKET_HEAD_MAX + WEBSOCKET_MESSAGE_MAX;
    text_addf(out,
              "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
              "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n"
              "Sec-WebSocket-Protocol: %s\r\n%s\r\n",
              path, host, ws->key, ws->protocols, headers);
}

/* Returns the value of a header without blanks around it, or NULL when the header is absent. The
 * caller frees it. */
static char *header_of(const char *head, const char *name) {
    for (const char *line = strstr(head, "\r\n"); line; line = strstr(line + 2, "\r\n")) {
        const char *value = line + 2 + strlen(name);
        _cleanup_(freep) char *start = xstrndup(line + 2, strlen(name));
        size_t len;

        if (!text_equal_nocase(start, name) || *value != ':')
            continue;
        value += 1 + strspn(value + 1, " \t");
        len = strcspn(value, "\r\n");
        while (len && (value[len - 1] == ' ' || value[len - 1] == '\t'))
            len--;
        return xstrndup(value, len);
    }
    return NULL;
}

static int check_opening(struct websocket *ws, const char *head, struct error *err) {
    _cleanup_(freep) char *wanted = xasprintf("%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", ws->key);
    _cleanup_(freep) char *accept = header_of(head, "Sec-WebSocket-Accept");
    _cleanup_(freep) char *protocol = header_of(head, "Sec-WebSocket-Protocol");
    _cleanup_(freep) char *answer = NULL;
    _cleanup_(text_list_free) struct text_list offered = {0};
    unsigned char digest[DIGEST_SHA1_LEN];
    bool found = false;

    digest_sha1(wanted, strlen(wanted), digest);
    answer = base64_encode(digest, sizeof digest);
    if (!text_equal(accept, answer))
        return error_set(err, ERROR_MALFORMED,
                         "open a WebSocket: the server's answer does not fit the request");
    text_list_split(&offered, ws->protocols, ',');
    for (size_t i = 0; i < offered.count && protocol; i++)
        found |= text_equal(offered.items[i] + strspn(offered.items[i], " "), protocol);
    if (!found)
        return error_set(err, ERROR_MALFORMED,
                         "open a WebSocket: the server chose the protocol '%.60s', offered: %s",
                         protocol ? protocol : "", ws->protocols);
    ws->protocol = take_ptr(protocol);
    return 0;
}

/* Reads the head of the server's answer. *ret_end is where the frames begin; 0 when the head is
 * incomplete or the server refused. */
static int hear_head(struct websocket *ws, size_t *ret_end, struct error *err) {
    static const char version[] = "HTTP/1.1 ";
    const char *data = text_str(&ws->in), *end = strstr(data, "\r\n\r\n");
    size_t len = end ? (size_t)(end + 4 - data) : ws->in.len, body_len = ws->in.len - len;
    _cleanup_(freep) char *head = xstrndup(data, len), *length = NULL;
    long long status = 0, wanted = WEBSOCKET_HEAD_MAX;

    *ret_end = 0;
    if (strncmp(head, version, len < sizeof version - 1 ? len : sizeof version - 1) != 0 ||
        strlen(head) != len)
        return error_set(err, ERROR_MALFORMED, "open a WebSocket: the answer is not HTTP/1.1");
    if (len > WEBSOCKET_HEAD_MAX)
        return error_set(err, ERROR_MALFORMED,
                         "open a WebSocket: the answer is longer than %d bytes",
                         WEBSOCKET_HEAD_MAX);
    if (!end)
        return 0;
    head[sizeof version - 1 + strspn(head + sizeof version - 1, "0123456789")] = '\0';
    if (text_to_number(head + sizeof version - 1, 100, 599, &status) < 0)
        return error_set(err, ERROR_MALFORMED, "open a WebSocket: the answer has no status");
    text_set(&head, xstrndup(data, len - 2));
    if (status == SWITCHING) {
        *ret_end = len;
        return check_opening(ws, head, err);
    }

    /* A refusal's body ends at its Content-Length, or without one when the server closes the
     * connection. */
    ws->status = (long)status;
    length = header_of(head, "Content-Length");
    /* `wanted` keeps the maximum when the length is not a valid number. */
    if (length)
        (void)text_to_number(length, 0, WEBSOCKET_HEAD_MAX, &wanted);
    text_clear(&ws->refusal);
    text_add_bytes(&ws->refusal, data + len, body_len < (size_t)wanted ? body_len : (size_t)wanted);
    ws->closed = body_len >= (size_t)wanted;
    return 0;
}

/* ---- frames ---- */

/* Measures a frame's head and payload. Returns false when more bytes are needed. */
static bool frame_measure(const unsigned char *p, size_t len, size_t *ret_head, uint64_t *ret_len) {
    unsigned extra = 0;

    if (len < 2)
        return false;
    *ret_len = p[1] & LENGTH;
    if (*ret_len >= LENGTH_16)
        extra = *ret_len == LENGTH_64 ? 8 : 2;
    if (len < 2 + extra)
        return false;
    for (unsigned i = 0; i < extra; i++)
        *ret_len = i ? *ret_len << 8 | p[2 + i] : p[2];
    *ret_head = 2 + extra;
    return true;
}

static int refuse(struct error *err, const char *why) {
    return error_set(err, ERROR_MALFORMED, "read a WebSocket: %s", why);
}

static int take_frame(struct websocket *ws, unsigned first, const char *data, size_t len,
                      struct text *reply, struct error *err) {
    int opcode = first & OPCODE;
    unsigned char mask[4];
    int result;

    if (opcode >= CLOSE) {
        if (opcode > PONG || !(first & FIN) || len > CONTROL_MAX)
            return refuse(err, "a control frame is wrong");
        ws->closed |= opcode == CLOSE;
        if (opcode == PONG)
            return 0;

        /* A close is answered with a close, and a ping with a pong that has the same data. */
        for (size_t i = 0; i < sizeof mask; i++)
            mask[i] = (unsigned char)(ws->mask >> (8 * i));
        /* Each frame has another mask, which protects proxies (RFC 6455, section 10.3). */
        ws->mask = ws->mask * 1664525u + 1013904223u;
        text_add_char(reply, (char)(FIN | (opcode == CLOSE ? CLOSE : PONG)));
        text_add_char(reply, (char)(MASKED | len));
        text_add_bytes(reply, mask, sizeof mask);
        for (size_t i = 0; i < len; i++)
            text_add_char(reply, (char)((unsigned char)data[i] ^ mask[i % 4]));
        return 0;
    }
    if (opcode == TEXT)
        return refuse(err, "the server sent a text");
    if (opcode > BINARY || ws->continues != (opcode == CONTINUATION))
        return refuse(err, "the frames do not follow each other");
    if (len > WEBSOCKET_MESSAGE_MAX - ws->message.len)
        return refuse(err, "a message is too long");
    text_add_bytes(&ws->message, data, len);
    ws->continues = !(first & FIN);
    if (ws->continues)
        return 0;
    result = ws->on_message(ws->context, text_str(&ws->message), ws->message.len, err);
    text_clear(&ws->message);
    return result;
}

int websocket_hear(struct websocket *ws, const void *data, size_t len, struct text *reply,
                   struct error *err) {
    size_t from = 0, head;
    const unsigned char *in;
    uint64_t payload;

    if (ws->closed)
        return 0;
    text_add_bytes(&ws->in, data, len);
    if (ws->in.overflow)
        return refuse(err, "the server sent too much");
    if (!ws->protocol && hear_head(ws, &from, err) < 0)
        return -1;
    if (!ws->protocol)
        return 0;
    in = (const unsigned char *)text_str(&ws->in);
    while (!ws->closed && frame_measure(in + from, ws->in.len - from, &head, &payload)) {
        if (in[from] & RESERVED || in[from + 1] & MASKED)
            return refuse(err, "a frame is masked or compressed");
        if (payload > WEBSOCKET_MESSAGE_MAX)
            return refuse(err, "a frame is too long");
        if (ws->in.len - from - head < payload)
            break;
        if (take_frame(ws, in[from], (const char *)in + from + head, (size_t)payload, reply, err) <
            0)
            return -1;
        from += head + (size_t)payload;
    }
    if (from) { /* Keep the bytes of the next, incomplete frame. */
        struct text rest = {.cap = ws->in.cap};

        text_add_bytes(&rest, in + from, ws->in.len - from);
        text_free(&ws->in);
        ws->in = rest;
    }
    return 0;
}
