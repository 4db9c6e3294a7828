/* IP addresses, prefixes, MACs and GUIDs as HNS reads them. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/hns/model.h"

static bool read_v4(const char *text, unsigned char out[4]) {
    for (int i = 0; i < 4; i++) {
        unsigned value = 0;
        int digits = 0;

        while (isdigit((unsigned char)*text) && digits < 4) {
            value = value * 10 + (unsigned)(*text++ - '0');
            digits++;
        }
        if (!digits || digits > 3 || value > 255 || *text != (i < 3 ? '.' : '\0'))
            return false;
        out[i] = (unsigned char)value;
        text++;
    }
    return true;
}

/* One group of up to four hexadecimal digits; moves on. */
static bool read_group(const char **text, unsigned *ret) {
    int digits = 0;

    *ret = 0;
    while (isxdigit((unsigned char)**text) && digits < 5) {
        int c = tolower((unsigned char)*(*text)++);

        *ret = *ret * 16 + (unsigned)(isdigit(c) ? c - '0' : c - 'a' + 10);
        digits++;
    }
    return digits >= 1 && digits <= 4;
}

static bool read_v6(const char *text, unsigned char out[16]) {
    unsigned group[8] = {0};
    int n = 0, gap = -1;

    if (text[0] == ':' && text[1] != ':')
        return false;
    while (*text) {
        if (text[0] == ':' && text[1] == ':') {
            if (gap >= 0)
                return false;
            gap = n;
            text += 2;
            if (*text == ':')
                return false;
            continue;
        }
        if (*text == ':' && (n == 0 || !*++text))
            return false;
        if (n == 8 || !read_group(&text, &group[n++]))
            return false;
        if (*text && *text != ':')
            return false;
    }
    if (gap < 0 ? n != 8 : n > 7)
        return false;
    for (int i = 0; i < 8; i++) {
        int from = gap < 0 || i < gap ? i : i - (8 - n);
        unsigned value = gap >= 0 && i >= gap && from < gap ? 0 : group[from];

        out[2 * i] = (unsigned char)(value >> 8);
        out[2 * i + 1] = (unsigned char)value;
    }
    return true;
}

bool model_address_read(const char *text, struct model_address *ret) {
    memset(ret, 0, sizeof(*ret));
    ret->family = strchr(text, ':') ? 6 : 4;
    return ret->family == 6 ? read_v6(text, ret->byte) : read_v4(text, ret->byte);
}

static int bit(const struct model_address *a, int n) {
    return a->byte[n / 8] >> (7 - n % 8) & 1;
}

bool model_prefix_read(const char *text, bool exact, struct model_prefix *ret) {
    char address[64];
    const char *slash = strchr(text, '/');
    size_t len = slash ? (size_t)(slash - text) : 0;
    int max, length = 0;

    if (!slash || len >= sizeof(address) || !slash[1] || strlen(slash + 1) > 3)
        return false;
    memcpy(address, text, len);
    address[len] = '\0';
    for (const char *p = slash + 1; *p; p++) {
        if (!isdigit((unsigned char)*p))
            return false;
        length = length * 10 + (*p - '0');
    }
    if (!model_address_read(address, &ret->base))
        return false;
    max = ret->base.family == 6 ? 128 : 32;
    ret->length = length;
    if (length > max)
        return false;
    for (int i = length; exact && i < max; i++)
        if (bit(&ret->base, i))
            return false;
    return true;
}

bool model_address_equal(const struct model_address *a, const struct model_address *b) {
    return a->family == b->family && !memcmp(a->byte, b->byte, sizeof(a->byte));
}

bool model_prefix_has(const struct model_prefix *p, const struct model_address *a) {
    if (p->base.family != a->family)
        return false;
    for (int i = 0; i < p->length; i++)
        if (bit(&p->base, i) != bit(a, i))
            return false;
    return true;
}

bool model_prefix_overlaps(const struct model_prefix *a, const struct model_prefix *b) {
    return a->length <= b->length ? model_prefix_has(a, &b->base) : model_prefix_has(b, &a->base);
}

/* Network address, or the broadcast address of an IPv4 prefix that has one. */
bool model_prefix_is_edge(const struct model_prefix *p, const struct model_address *a) {
    int max = a->family == 6 ? 128 : 32, ones = 0, zeros = 0;

    if (p->length >= max - 1 || !model_prefix_has(p, a))
        return false;
    for (int i = p->length; i < max; i++) {
        ones += bit(a, i);
        zeros += !bit(a, i);
    }
    return !ones || (a->family == 4 && !zeros);
}

void model_prefix_nth(const struct model_prefix *p, unsigned n, struct model_address *ret) {
    int last = p->base.family == 6 ? 15 : 3;

    *ret = p->base;
    for (int i = last; i >= 0 && n; i--) {
        n += ret->byte[i];
        ret->byte[i] = (unsigned char)n;
        n >>= 8;
    }
}

static unsigned group(const struct model_address *a, int n) {
    return (unsigned)(a->byte[2 * n] << 8 | a->byte[2 * n + 1]);
}

/* Groups that "::" replaces (RFC 5952: the first of the longest, two at least); 0: none. */
static int longest_zeros(const struct model_address *a, int *ret_at) {
    int best = 1;

    *ret_at = 0;
    for (int i = 0; i < 8; i++) {
        int n = 0;

        while (i + n < 8 && !group(a, i + n))
            n++;
        if (n > best) {
            best = n;
            *ret_at = i;
        }
    }
    return best > 1 ? best : 0;
}

void model_address_write(const struct model_address *a, char out[46]) {
    int gap, zeros;

    if (a->family == 4) {
        (void)snprintf(out, 46, "%u.%u.%u.%u", a->byte[0], a->byte[1], a->byte[2], a->byte[3]);
        return;
    }
    zeros = longest_zeros(a, &gap);
    for (int i = 0, at = 0; i < 8; i++) {
        if (i >= gap && i < gap + zeros)
            at += snprintf(out + at, 46 - (size_t)at, "%s",
                           i == gap ? (i + zeros == 8 ? "::" : ":") : "");
        else
            at += snprintf(out + at, 46 - (size_t)at, "%s%x", i ? ":" : "", group(a, i));
    }
}

bool model_mac_read(const char *text, char out[18]) {
    if (strlen(text) != 17 || (text[2] != ':' && text[2] != '-'))
        return false;
    for (int i = 0; i < 17; i++) {
        bool separator = i % 3 == 2;

        if (separator ? text[i] != text[2] : !isxdigit((unsigned char)text[i]))
            return false;
        out[i] = separator ? '-' : (char)toupper((unsigned char)text[i]);
    }
    out[17] = '\0';
    return true;
}

bool model_guid_read(const char *text, char out[37]) {
    size_t len = strlen(text);

    if (len == 38 && text[0] == '{' && text[37] == '}')
        text++;
    else if (len != 36)
        return false;
    for (int i = 0; i < 36; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;

        if (dash ? text[i] != '-' : !isxdigit((unsigned char)text[i]))
            return false;
        out[i] = (char)tolower((unsigned char)text[i]);
    }
    out[36] = '\0';
    return true;
}
