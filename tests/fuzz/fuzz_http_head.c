/* Lines of an answer's head, and what it says its type is. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "host/http_head.h"
#include "kube/media_type.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *at = (const char *)data, *end = at + size;
    struct http_head head = {0};

    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t len = newline ? (size_t)(newline - at) + 1 : (size_t)(end - at);
        _cleanup_(freep) char *line = xmalloc(len); /* its exact length: reading on is seen */

        memcpy(line, at, len);
        if (http_head_read(&head, line, len))
            break;
        at += len;
    }
    if (head.type)
        (void)media_type_is(head.type, "application/json");
    if (head.length && head.length[strspn(head.length, "0123456789")] && at >= end)
        abort(); /* a length that is no number was taken */
    http_head_free(&head);
    return 0;
}
