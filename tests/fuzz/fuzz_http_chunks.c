/* Chunks of an HTTP answer: however they arrive, the same comes of them, and it is bounded. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "host/http_chunks.h"

static bool take(void *context, const char *data, size_t len) {
    text_add_bytes(context, data, len);
    return true;
}

/* Reads in pieces of `step`; each stands in memory of its own length: reading on is seen. */
static const char *read_all(const char *data, size_t size, size_t step, struct text *ret_body) {
    _cleanup_(freep) struct http_chunks *chunks = xcalloc(1, sizeof *chunks);
    const char *why = NULL;

    for (size_t at = 0; at < size && !why; at += step) {
        size_t len = step < size - at ? step : size - at;
        _cleanup_(freep) char *piece = xmalloc(len);

        memcpy(piece, data + at, len);
        why = http_chunks_read(chunks, piece, len, take, ret_body);
    }
    return why;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct text whole = {0}, slow = {0};
    const char *why = read_all((const char *)data, size, size ? size : 1, &whole);
    const char *again = read_all((const char *)data, size, 1, &slow);

    if (why != again || whole.len != slow.len || whole.len > size ||
        (whole.len && memcmp(whole.data, slow.data, whole.len) != 0))
        abort();
    text_free(&whole);
    text_free(&slow);
    return 0;
}
