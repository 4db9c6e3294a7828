/* UTF-16 and marked UTF-8 to plain UTF-8. */
#include "base/text.h"

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

/* Of any bytes: half a character becomes U+FFFD. */
static void from_units(char **text, size_t *len, struct units u) {
    char *out = xmalloc(u.count * 3 + 1);
    size_t n = 0;

    while (u.at < u.count) {
        int32_t c = next(&u);

        n += put(out + n, c < 0 ? 0xfffd : (uint32_t)c);
    }
    out[n] = '\0';
    secret_free(*text, *len);
    *text = out;
    *len = n;
}

int unicode_to_utf8(char **text, size_t *len, struct error *err) {
    const char *mark = *text;

    if (*len >= 2 && (memcmp(mark, "\xff\xfe", 2) == 0 || memcmp(mark, "\xfe\xff", 2) == 0)) {
        struct units u = {(const unsigned char *)*text + 2, *len / 2 - 1, 0, (mark[0] == '\xfe')};
        char *out;
        size_t n = 0;

        if (*len % 2)
            return error_set(err, ERROR_MALFORMED, "UTF-16 text of an odd number of bytes (%zu)",
                             *len);
        out = xmalloc(u.count * 3 + 1);
        while (u.at < u.count) {
            int32_t c = next(&u);

            if (c < 0) {
                secret_free(out, n);
                return error_set(err, ERROR_MALFORMED,
                                 "UTF-16 text with half a character at byte %zu", 2 * u.at);
            }
            n += put(out + n, (uint32_t)c);
        }
        out[n] = '\0';
        secret_free(*text, *len);
        *text = out;
        *len = n;
        return 0;
    }
    if (*len >= 3 && memcmp(mark, "\xef\xbb\xbf", 3) == 0) {
        *len -= 3;
        memmove(*text, *text + 3, *len + 1);
    }
    return 0;
}

/* Of letters that Latin has, one byte in two is zero: the share of those at even and at odd places
 * tells which. */
static bool looks_wide(const char *text, size_t len, bool *ret_big_endian) {
    size_t zeros[2] = {0}, units = len / 2;

    for (size_t i = 0; i < units * 2; i++)
        zeros[i % 2] += !text[i];
    *ret_big_endian = zeros[0] > zeros[1];
    return zeros[!*ret_big_endian] * 2 > units && zeros[*ret_big_endian] * 8 < units;
}

void unicode_to_text(char **text, size_t *len) {
    bool marked =
        *len >= 2 && (memcmp(*text, "\xff\xfe", 2) == 0 || memcmp(*text, "\xfe\xff", 2) == 0);
    bool big_endian = marked && **text == '\xfe';
    size_t n = 0;

    if (marked || looks_wide(*text, *len, &big_endian))
        from_units(text, len,
                   (struct units){(const unsigned char *)*text + (marked ? 2 : 0),
                                  *len / 2 - marked, 0, big_endian});
    else
        (void)unicode_to_utf8(text, len, NULL); /* there is no mark of UTF-16 */
    for (size_t i = 0; i < *len; i++)
        if ((*text)[i])
            (*text)[n++] = (*text)[i];
    (*text)[n] = '\0';
    *len = n;
}
