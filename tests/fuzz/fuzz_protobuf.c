/* An object in Protobuf, and a stream of events: what is read can be written as JSON. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "kube/event_stream.h"

static void write_it(json_t *read) {
    free(json_write(read));
    json_decref(read);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct event_stream stream = {0};
    json_t *read = NULL;
    struct error err = {0};

    if (kube_protobuf_read((const char *)data, size, &read, &err) == 0)
        write_it(read);
    else if (err.kind != ERROR_MALFORMED || !err.message[0])
        abort();
    event_stream_begin(&stream);
    for (size_t at = 0; at < size && !stream.piece.overflow && !stream.words;) {
        size_t n = event_stream_take(&stream, (const char *)data + at, size - at, &read);

        if (!n)
            abort();
        at += n;
        if (read)
            write_it(read);
    }
    text_free(&stream.piece);
    return 0;
}
