/* UTF-16 and marked UTF-8 to plain UTF-8. */
#include "base/unicode.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"

/* A file in UTF-16: `at` of `count` units. */
struct units {
    const unsigned char *data;
    size_t count, at;
    bool big_endian;
};

static unsigned unit(const struct units *u, size_t i) {
    unsigned first = u->data[2 * i], second = u->data[2 * i + 1];

    return u->big_endian ? first << 8 | second : second << 8 | first;
}

/* The next character; -1: half of a pair. */
static int32_t next(struct units *u) {
    unsigned high = unit(u, u->at++), low;

    if (high < 0xd800 || high > 0xdfff)
        return (int32_t)high;
    if (high > 0xdbff || u->at == u->count)
        return -1;
    low = unit(u, u->at++);
    return low < 0xdc00 || low > 0xdfff
               ? -1
               : (int32_t)(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
}

static size_t put(char *out, uint32_t c) {
    size_t more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};

    out[0] = (char)(lead[more] | c >> (6 * more));
    for (size_t i = 1; i <= more; i++)
        out[i] = (char)(0x80 | (c >> (6 * (more - i)) & 0x3f));
    return more + 1;
}

static int from_utf16(char **text, size_t *len, bool big_endian, struct error *err) {
    struct units u = {(const unsigned char *)*text + 2, *len / 2 - 1, 0, big_endian};
    char *out;
    size_t n = 0;

    if (*len % 2)
        return error_set(err, ERROR_MALFORMED, "UTF-16 text of an odd number of bytes (%zu)", *len);
    out = xmalloc(u.count * 3 + 1);
    while (u.at < u.count) {
        int32_t c = next(&u);

        if (c < 0) {
            secret_free(out, n);
            return error_set(err, ERROR_MALFORMED, "UTF-16 text with half a character at byte %zu",
                             2 * u.at);
        }
        n += put(out + n, (uint32_t)c);
    }
    out[n] = '\0';
    secret_free(*text, *len);
    *text = out;
    *len = n;
    return 0;
}

int unicode_to_utf8(char **text, size_t *len, struct error *err) {
    const char *mark = *text;

    if (*len >= 2 && (memcmp(mark, "\xff\xfe", 2) == 0 || memcmp(mark, "\xfe\xff", 2) == 0))
        return from_utf16(text, len, mark[0] == '\xfe', err);
    if (*len >= 3 && memcmp(mark, "\xef\xbb\xbf", 3) == 0) {
        *len -= 3;
        memmove(*text, *text + 3, *len + 1);
    }
    return 0;
}
