/* Strict DER: OpenSSL takes what other programs take for damaged, Go's crypto/x509 among them. */
#include "pki/der.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { DEPTH_MAX = 32, ARC_BITS = 31, LENGTH_OCTETS_MAX = 4 };

/* Tag octets of universal types, X.680 section 8.4. */
enum {
    DER_BOOLEAN = 1,
    DER_INTEGER = 2,
    DER_BIT_STRING = 3,
    DER_NULL = 5,
    DER_OBJECT = 6,
    DER_ENUMERATED = 10,
    DER_NUMERIC_STRING = 18,
    DER_PRINTABLE_STRING = 19,
    DER_IA5_STRING = 22,
    DER_UTC_TIME = 23,
    DER_GENERALIZED_TIME = 24,
    DER_UNIVERSAL_STRING = 28,
    DER_SEQUENCE = 0x30,
    DER_SET = 0x31,
};

struct element {
    unsigned char tag;
    const unsigned char *content;
    size_t len;
};

/* Reads one element and moves behind it. */
static const char *take(const unsigned char **at, size_t *left, struct element *ret) {
    size_t octets = 0, len;

    if (*left < 2)
        return "it is cut short";
    ret->tag = (*at)[0];
    len = (*at)[1];
    if ((ret->tag & 0x1f) == 0x1f)
        return "a tag of it is too great";
    if (len >= 0x80) {
        octets = len & 0x7f;
        if (!octets || octets > LENGTH_OCTETS_MAX || *left < 2 + octets || !(*at)[2])
            return "a length in it is not DER";
        len = 0;
        for (size_t i = 0; i < octets; i++)
            len = len << 8 | (*at)[2 + i];
        if (len < 0x80)
            return "a length in it is not DER";
    }
    if (*left - 2 - octets < len)
        return "it is cut short";
    ret->content = *at + 2 + octets;
    ret->len = len;
    *at = ret->content + len;
    *left -= 2 + octets + len;
    return NULL;
}

static bool is_integer(const struct element *e) {
    if (e->len < 2)
        return e->len == 1;
    return !(e->content[0] == 0 && e->content[1] < 0x80) &&
           !(e->content[0] == 0xff && e->content[1] >= 0x80);
}

static bool is_bits(const struct element *e) {
    unsigned unused = e->len ? e->content[0] : 8;

    if (unused > 7 || (e->len == 1 && unused))
        return false;
    return e->len == 1 || !(e->content[e->len - 1] & ((1u << unused) - 1));
}

/* Each arc as Go can hold it. */
static bool is_object(const struct element *e) {
    uint64_t arc = 0;

    if (!e->len || e->content[e->len - 1] >= 0x80)
        return false;
    for (size_t i = 0; i < e->len; i++) {
        if (!arc && e->content[i] == 0x80)
            return false; /* a nought before the digits */
        arc = arc << 7 | (e->content[i] & 0x7f);
        if (arc >> ARC_BITS)
            return false;
        if (e->content[i] < 0x80)
            arc = 0;
    }
    return true;
}

static bool consists_of(const struct element *e, const char *others, bool letters) {
    for (size_t i = 0; i < e->len; i++) {
        unsigned char c = e->content[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

        if (!(c >= '0' && c <= '9') && !(letters && letter) && !(c && strchr(others, c)))
            return false;
    }
    return true;
}

static bool is_ascii(const struct element *e) {
    for (size_t i = 0; i < e->len; i++)
        if (e->content[i] > 0x7f)
            return false;
    return true;
}

/* "261122014500Z", "20501122014500Z": RFC 5280 section 4.1.2.5. */
static bool is_time(const struct element *e, size_t digits) {
    const struct element number = {e->tag, e->content, digits};

    return e->len == digits + 1 && e->content[digits] == 'Z' && consists_of(&number, "", false);
}

static const char *why_bad_content(const struct element *e) {
    switch (e->tag) {
    case DER_BOOLEAN:
        return e->len == 1 && (e->content[0] == 0 || e->content[0] == 0xff)
                   ? NULL
                   : "a yes or no in it is neither";
    case DER_INTEGER:
    case DER_ENUMERATED:
        return is_integer(e) ? NULL : "a number in it is not DER";
    case DER_BIT_STRING:
        return is_bits(e) ? NULL : "a string of bits in it is not DER";
    case DER_NULL:
        return e->len == 0 ? NULL : "a null in it has a value";
    case DER_OBJECT:
        return is_object(e) ? NULL : "an object identifier in it is damaged or too great";
    case DER_NUMERIC_STRING:
        return consists_of(e, " ", false) ? NULL : "a NumericString in it holds something else";
    case DER_PRINTABLE_STRING: /* "*" and "&" stand in certificates of old, for Go too */
        return consists_of(e, " '()+,-./:=?*&", true)
                   ? NULL
                   : "a PrintableString in it holds a character that it cannot";
    case DER_IA5_STRING:
        return is_ascii(e) ? NULL : "an IA5String in it is not ASCII";
    case DER_UTC_TIME:
        return is_time(e, 12) ? NULL : "a time in it is not YYMMDDHHMMSSZ";
    case DER_GENERALIZED_TIME:
        return is_time(e, 14) ? NULL : "a time in it is not YYYYMMDDHHMMSSZ";
    case DER_UNIVERSAL_STRING:
        return "a text in it is a UniversalString";
    case DER_SEQUENCE & 0x1f:
    case DER_SET & 0x1f:
        return "a list in it is none";
    default:
        return NULL;
    }
}

static const char *walk(const unsigned char *at, size_t left, unsigned depth) {
    const char *why = NULL;

    if (depth > DEPTH_MAX)
        return "it is nested too deep";
    while (!why && left) {
        struct element e;

        why = take(&at, &left, &e);
        if (why)
            break;
        if (!(e.tag & 0x20))
            why = e.tag & 0xc0 ? NULL : why_bad_content(&e);
        else if (!(e.tag & 0xc0) && e.tag != DER_SEQUENCE && e.tag != DER_SET)
            why = "a text in it is in pieces";
        else
            why = walk(e.content, e.len, depth + 1);
    }
    return why;
}

const char *der_why_bad(const unsigned char *der, size_t len) {
    return walk(der, len, 0);
}
