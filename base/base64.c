/* Encodes and decodes base64 with the standard and the URL alphabet (RFC 4648 sections 4 and 5). */
#include "base/base64.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

static const char standard[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
char *base64_encode(const void *data, size_t len) {
    const unsigned char *in = data;
    char *out = xmalloc((len + 2) / 3 * 4 + 1), *o = out;

    for (size_t i = 0; i < len; i += 3) {
        size_t n = len - i < 3 ? len - i : 3;
        uint32_t v = (uint32_t)in[i] << 16 | (n > 1 ? (uint32_t)in[i + 1] << 8 : 0) |
                     (n > 2 ? in[i + 2] : 0);

        *o++ = standard[v >> 18];
        *o++ = standard[v >> 12 & 63];
        *o++ = n > 1 ? standard[v >> 6 & 63] : '=';
        *o++ = n > 2 ? standard[v & 63] : '=';
    }
    *o = '\0';
    return out;
}

char *base64url_encode(const void *data, size_t len) {
    char *out = base64_encode(data, len);

    out[strcspn(out, "=")] = '\0';
    return text_replace(text_replace(out, "+", '-'), "/", '_');
}

int base64_decode(const char *text, size_t len, unsigned char **ret, size_t *ret_len,
                  struct error *err) {
    _cleanup_(freep) char *packed = xmalloc(len + 1);
    _cleanup_(freep) unsigned char *out = xmalloc(len / 4 * 3 + 4);
    size_t digits = 0, padding = 0, n = 0;
    uint32_t v = 0;

    for (size_t i = 0; i < len; i++)
        if (text[i] != '\r' && text[i] != '\n')
            packed[digits++] = text[i];
    while (padding < 2 && digits > padding && packed[digits - padding - 1] == '=')
        padding++;
    if (digits % 4)
        return error_set(err, ERROR_MALFORMED, "decode base64: the text is cut short");
    digits -= padding;

    for (size_t i = 0; i < digits; i++) {
        const char *found = memchr(standard, packed[i], sizeof standard - 1);

        if (!found)
            return error_set(err, ERROR_MALFORMED, "decode base64: bad character at byte %zu", i);
        v = v << 6 | (uint32_t)(found - standard);
        if (i % 4 != 0)
            out[n++] = (unsigned char)(v >> (6 - i % 4 * 2));
    }
    if (digits % 4 && (v & (digits % 4 == 2 ? 15u : 3u)))
        return error_set(err, ERROR_MALFORMED, "decode base64: bits left over at the end");
    out[n] = '\0';
    *ret = take_ptr(out);
    *ret_len = n;
    return 0;
}
