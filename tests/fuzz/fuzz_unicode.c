/* Files of people and shells, marked as UTF-16 or UTF-8: what comes is UTF-8 that holds the same
 * characters. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* The UTF-16 units that the text's characters need; -1: no UTF-8. */
static long units_of(const unsigned char *p, size_t len) {
    long units = 0;

    for (size_t i = 0; i < len;) {
        size_t more = p[i] < 0x80 ? 0 : (p[i] & 0xe0) == 0xc0 ? 1 : (p[i] & 0xf0) == 0xe0 ? 2 : 3;

        if (i + more >= len || (more == 3 && (p[i] & 0xf8) != 0xf0))
            return -1;
        for (size_t k = 1; k <= more; k++)
            if ((p[i + k] & 0xc0) != 0x80)
                return -1;
        units += more == 3 ? 2 : 1;
        i += more + 1;
    }
    return units;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_(freep) char *text = xstrndup("", 0);
    bool wide = size >= 2 && (memcmp(data, "\xff\xfe", 2) == 0 || memcmp(data, "\xfe\xff", 2) == 0);
    bool marked = size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0;
    size_t len = size;

    text = xrealloc(text, size + 1);
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    if (unicode_to_utf8(&text, &len, NULL) < 0) {
        if (!wide || len != size || (size && memcmp(text, data, size) != 0))
            abort();
        return 0;
    }
    if (text[len])
        abort();
    if (wide ? units_of((const unsigned char *)text, len) != (long)(size / 2 - 1)
             : len != size - (marked ? 3 : 0))
        abort();
    return 0;
}
