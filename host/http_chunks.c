/* Chunks of an HTTP/1 answer's body: sizes, data, trailers. */
#include "host/http_chunks.h"

#include <string.h>

#include "host/http_head.h"

enum {
    EXCESS_MAX = 16 * 1024,
    EXCESS_FREE = 16, /* a chunk's own line, and as much again as its data twice */
    DIGITS_MAX = 16,
};

static int digit_of(char c) {
    static const char digits[] = "0123456789abcdefABCDEF";
    const char *found = c ? strchr(digits, c) : NULL;
    int value = found ? (int)(found - digits) : -1;

    return value < 16 ? value : value - 6;
}

static bool count_excess(struct http_chunks *chunks) {
    uint64_t room = chunks->left < EXCESS_MAX ? EXCESS_FREE + 2 * chunks->left : EXCESS_MAX * 2;

    chunks->excess += chunks->len;
    chunks->excess -= room < chunks->excess ? room : chunks->excess;
    return chunks->excess <= EXCESS_MAX;
}

/* "1a0 \t; name=value" */
static const char *read_size(struct http_chunks *chunks) {
    const char *line = chunks->line, *extension = memchr(line, ';', chunks->len - 2);
    size_t len = extension ? (size_t)(extension - line) : chunks->len - 2;

    while (!extension && len && (line[len - 1] == ' ' || line[len - 1] == '\t'))
        len--;
    if (!len || len > DIGITS_MAX)
        return "a chunk's size is none";
    chunks->left = 0;
    for (size_t i = 0; i < len; i++) {
        if (digit_of(line[i]) < 0)
            return "a chunk's size is none";
        chunks->left = chunks->left << 4 | (unsigned)digit_of(line[i]);
    }
    chunks->state = chunks->left ? HTTP_CHUNK_DATA : HTTP_CHUNK_TRAILER;
    return count_excess(chunks) ? NULL : "its chunks hold too much that is no data";
}

static const char *read_trailer(struct http_chunks *chunks) {
    if (!chunks->trailer && (*chunks->line == ' ' || *chunks->line == '\t'))
        return "its first trailer goes on with no other";
    chunks->trailer += chunks->len;
    if (chunks->trailer > HTTP_CHUNK_LINE_MAX)
        return "its trailers are too long";
    if (chunks->len == 2)
        chunks->state = HTTP_CHUNKS_END;
    return http_head_check_trailer(chunks->line, chunks->len);
}

static const char *read_line(struct http_chunks *chunks) {
    const char *cr = memchr(chunks->line, '\r', chunks->len);
    const char *why = NULL;

    if (!cr || cr != chunks->line + chunks->len - 2)
        return "a line of its chunks does not end in CRLF";
    if (chunks->state == HTTP_CHUNK_SIZE)
        why = read_size(chunks);
    else if (chunks->state == HTTP_CHUNK_TRAILER)
        why = read_trailer(chunks);
    else
        chunks->state = HTTP_CHUNK_SIZE;
    chunks->len = 0;
    return why;
}

static const char *read_octet(struct http_chunks *chunks, char octet) {
    if (chunks->state == HTTP_CHUNK_END && octet != "\r\n"[chunks->len])
        return "a chunk is not as long as it says";
    chunks->line[chunks->len++] = octet;
    if (octet == '\n')
        return read_line(chunks);
    return chunks->len < sizeof chunks->line ? NULL : "a line of its chunks is too long";
}

const char *http_chunks_read(struct http_chunks *chunks, const char *data, size_t len,
                             bool (*take)(void *context, const char *data, size_t len),
                             void *context) {
    const char *why = NULL;

    for (size_t step; !why && len && chunks->state != HTTP_CHUNKS_END; data += step, len -= step) {
        step = 1;
        if (chunks->state != HTTP_CHUNK_DATA) {
            why = read_octet(chunks, *data);
            continue;
        }
        step = chunks->left < len ? (size_t)chunks->left : len;
        if (!take(context, data, step))
            return NULL;
        chunks->left -= step;
        if (!chunks->left)
            chunks->state = HTTP_CHUNK_END;
    }
    return why;
}
