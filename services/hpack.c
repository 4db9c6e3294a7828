/* HPACK: numbers, texts, Huffman's code. */
#include "services/hpack.h"

#include <stdint.h>

#include "base/text.h"

enum { STATIC_TABLE = 61, CODE_MAX = 30 };

/* RFC 7541, appendix B. The code is canonical: how many symbols have a code of so many bits, and
 * the symbols in the order of their codes say all. Of the symbols only those up to 19 bits: gRPC
 * writes printable ASCII. */
static const unsigned char symbols_of_length[CODE_MAX + 1] = {
    [5] = 10,  [6] = 26,  [7] = 32, [8] = 6,   [10] = 5,  [11] = 3,  [12] = 2,
    [13] = 6,  [14] = 2,  [15] = 3, [19] = 3,  [20] = 8,  [21] = 13, [22] = 26,
    [23] = 29, [24] = 12, [25] = 4, [26] = 15, [27] = 19, [28] = 29, [30] = 4};
static const char symbols[] = "012aceiost %-./3456789=A_bdfghlmnpru:BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz"
                              "&*,;XZ!\"()?'+|#>\0$@[]~^}<`{\\\xc3\xd0";

struct span {
    const unsigned char *at;
    size_t len;
};

static int cut(struct error *err) {
    return error_set(err, ERROR_MALFORMED, "read HTTP/2's headers: incomplete field");
}

static unsigned char next(struct span *in) {
    in->len--;
    return *in->at++;
}

/* A number that begins in the last `bits` of a byte. */
static int read_number(struct span *in, unsigned bits, size_t *ret, struct error *err) {
    size_t max = (1u << bits) - 1, value;
    unsigned char byte = 0x80;

    if (!in->len)
        return cut(err);
    value = next(in) & max;
    for (unsigned shift = 0; value >= max && byte & 0x80; shift += 7) {
        if (!in->len || shift > 21)
            return cut(err);
        byte = next(in);
        value += (size_t)(byte & 0x7f) << shift;
    }
    *ret = value;
    return 0;
}

/* Every 30 bits begin with a code: it is complete. */
static void add_huffman(struct text *t, struct span in) {
    uint32_t code = 0, first = 0; /* the first code of `length` bits */
    size_t before = 0;            /* symbols with a shorter one */
    unsigned length = 0;

    for (size_t i = 0; i < in.len * 8; i++) {
        before += symbols_of_length[length];
        first = (first + symbols_of_length[length]) << 1;
        code = code << 1 | (in.at[i / 8] >> (7 - i % 8) & 1);
        length++;
        if (code - first >= symbols_of_length[length])
            continue;
        before += code - first;
        text_add_char(t, before < sizeof symbols - 1 ? symbols[before] : '?');
        code = first = length = 0;
        before = 0;
    }
}

static int read_text(struct span *in, struct text *ret, struct error *err) {
    bool huffman = in->len && *in->at & 0x80;
    struct span content;

    text_clear(ret);
    if (read_number(in, 7, &content.len, err) < 0)
        return -1;
    if (content.len > in->len)
        return cut(err);
    content.at = in->at;
    in->at += content.len;
    in->len -= content.len;
    if (huffman)
        add_huffman(ret, content);
    else
        text_add_bytes(ret, content.at, content.len);
    return 0;
}

int hpack_read(const void *block, size_t len, hpack_field *field, void *context,
               struct error *err) {
    _cleanup_(text_free) struct text name = {0}, value = {0};
    struct span in = {block, len};
    size_t index;

    while (in.len) {
        unsigned char first = *in.at;
        /* whole in the table, to be put into one, size of the table, not to be put into one */
        unsigned bits = first & 0x80 ? 7 : first & 0x40 ? 6 : first & 0x20 ? 5 : 4;

        if (read_number(&in, bits, &index, err) < 0)
            return -1;
        if (bits == 5)
            continue;
        if (index > STATIC_TABLE)
            return error_set(err, ERROR_MALFORMED,
                             "read HTTP/2's headers: field %zu of a table, which was not enabled",
                             index);
        if (bits == 7)
            continue;
        text_clear(&name);
        if ((!index && read_text(&in, &name, err) < 0) || read_text(&in, &value, err) < 0)
            return -1;
        field(context, text_str(&name), text_str(&value));
    }
    return 0;
}
