/* Converts UTF-16, and UTF-8 with a byte order mark, to plain UTF-8. */
#include "base/unicode.h"

#include "base/text.h"

size_t unicode_encode(uint32_t code, char out[4]) {
    size_t more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};

    out[0] = (char)(lead[more] | code >> (6 * more));
    for (size_t i = 1; i <= more; i++)
        out[i] = (char)(0x80 | (code >> (6 * (more - i)) & 0x3f));
    return more + 1;
}

static uint32_t unit(const unsigned char *data, size_t i, bool big_endian) {
    return (uint32_t)data[2 * i + !big_endian] << 8 | data[2 * i + big_endian];
}

/* Converts the UTF-16 text that begins at offset `from` to UTF-8. An incomplete character becomes
 * U+FFFD, or is an error when `strict` is true. */
static int from_utf16(char **text, size_t *len, size_t from, bool big_endian, bool strict,
                      struct error *err) {
    const unsigned char *data = (const unsigned char *)*text + from;
    size_t count = (*len - from) / 2, n = 0;
    char *out = xmalloc(count * 3 + 1);

    for (size_t i = 0; i < count;) {
        uint32_t c = unit(data, i++, big_endian), low;

        if (c >= 0xd800 && c <= 0xdfff) {
            low = c <= 0xdbff && i < count ? unit(data, i++, big_endian) : 0;
            if (low >= 0xdc00 && low <= 0xdfff) {
                c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
            } else if (!strict) {
                c = 0xfffd;
            } else {
                secret_free(out, n);
                return error_set(err, ERROR_MALFORMED,
                                 "UTF-16 text with half a character at byte %zu", 2 * i);
            }
        }
        n += unicode_encode(c, out + n);
    }
    out[n] = '\0';
    secret_free(*text, *len);
    *text = out;
    *len = n;
    return 0;
}

static bool is_marked(const char *text, size_t len) {
    return len >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0);
}

int unicode_to_utf8(char **text, size_t *len, struct error *err) {
    if (is_marked(*text, *len)) {
        if (*len % 2)
            return error_set(err, ERROR_MALFORMED, "UTF-16 text of an odd number of bytes (%zu)",
                             *len);
        return from_utf16(text, len, 2, **text == '\xfe', true, err);
    }
    if (*len >= 3 && memcmp(*text, "\xef\xbb\xbf", 3) == 0) {
        *len -= 3;
        memmove(*text, *text + 3, *len + 1);
    }
    return 0;
}

void unicode_to_text(char **text, size_t *len) {
    bool marked = is_marked(*text, *len);
    size_t zeros[2] = {0}, units = *len / 2, n = 0;
    bool big_endian;

    /* In UTF-16, one of the two bytes of each Latin letter is zero. The share of zeros at even and
     * at odd positions shows the byte order. The conversions below cannot fail: the first is not
     * strict, and the second runs only when there is no UTF-16 mark. */
    for (size_t i = 0; i < units * 2; i++)
        zeros[i % 2] += !(*text)[i];
    big_endian = marked ? **text == '\xfe' : zeros[0] > zeros[1];
    if (marked || (zeros[!big_endian] * 2 > units && zeros[big_endian] * 8 < units))
        (void)from_utf16(text, len, marked ? 2 : 0, big_endian, false, NULL);
    else
        (void)unicode_to_utf8(text, len, NULL);
    for (size_t i = 0; i < *len; i++)
        if ((*text)[i])
            (*text)[n++] = (*text)[i];
    (*text)[n] = '\0';
    *len = n;
}
