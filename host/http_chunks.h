/* The body of an HTTP/1 answer that comes in chunks, as strictly as Go's net/http reads it: libcurl
 * takes chunks that end anyhow. Only files in host/ include this. */
#ifndef HOST_HTTP_CHUNKS_H
#define HOST_HTTP_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HTTP_CHUNK_LINE_MAX = 4096 };

/* Begins as all zeros. */
struct http_chunks {
    enum http_chunks_state {
        HTTP_CHUNK_SIZE,
        HTTP_CHUNK_DATA,
        HTTP_CHUNK_END, /* the line end behind the data */
        HTTP_CHUNK_TRAILER,
        HTTP_CHUNKS_END,
    } state;
    uint64_t left;   /* of the chunk's data */
    uint64_t excess; /* octets that are no data, beyond what chunks of this size need */
    size_t trailer;  /* octets of all trailers */
    size_t len;
    char line[HTTP_CHUNK_LINE_MAX];
};

/* Reads on in what came, gives each piece of the body to `take`, and leaves alone what stands
 * behind the answer. NULL (also when `take` wants no more, false), or why
 * the answer is not to be taken: lines that do not end in CRLF or are too long, a size that is
 * none, data that are not as long as said, extensions and trailers beyond all measure (RFC 9112
 * section 7.1; Go's bounds: net/http/internal/chunked.go). */
const char *http_chunks_read(struct http_chunks *chunks, const char *data, size_t len,
                             bool (*take)(void *context, const char *data, size_t len),
                             void *context);

#endif
