/* Writes and parses DNS messages. Every offset is checked, because anybody can send a datagram as
 * an answer. */
#include "host/socket_dns.h"

#include <stdio.h>
#include <string.h>

enum { TYPE_OPT = 41, OPT_PADDING = 12, OPT_LEN = 15 };
enum {
    HEADER = 12,
    TYPE_A = 1,
    TYPE_AAAA = 28,
    CLASS_IN = 1,
    RCODE_SERVFAIL = 2,
    RCODE_NXDOMAIN = 3
};

static void put16(unsigned char *out, unsigned value) {
    out[0] = (unsigned char)(value >> 8);
    out[1] = (unsigned char)value;
}

static unsigned get16(const unsigned char *in) {
    return (unsigned)in[0] << 8 | in[1];
}

size_t dns_query_make(unsigned char out[DNS_QUERY_MAX], uint16_t id, const char *name, bool ipv6,
                      size_t size) {
    size_t at = HEADER, zeros;

    if (!*name || strlen(name) > 253)
        return 0;
    memset(out, 0, HEADER);
    put16(out, id);
    out[2] = 1; /* This flag is RD (recursion desired). */
    out[5] = 1; /* The message has one question. */
    while (*name) {
        size_t len = strcspn(name, ".");

        if (len == 0 || len > 63)
            return 0;
        out[at++] = (unsigned char)len;
        memcpy(out + at, name, len);
        at += len;
        name += len;
        if (*name == '.')
            name++;
    }
    out[at++] = 0;
    put16(out + at, ipv6 ? TYPE_AAAA : TYPE_A);
    put16(out + at + 2, CLASS_IN);
    at += 4;
    if (size < at + OPT_LEN || size > DNS_QUERY_MAX)
        return at;

    /* Add an OPT record (RFC 6891 section 6.1.2) with the option Padding. */
    zeros = size - at - OPT_LEN;
    memset(out + at, 0, size - at);
    out[11] = 1; /* The message has one additional record. */
    put16(out + at + 1, TYPE_OPT);
    put16(out + at + 3, DNS_ANSWER_MAX);
    put16(out + at + 9, (unsigned)zeros + 4);
    put16(out + at + 11, OPT_PADDING);
    put16(out + at + 13, (unsigned)zeros);
    return size;
}

/* Returns the offset behind the name at `at`, or 0 when the message ends inside the name. A
 * compression pointer ends a name, so it need not be followed. */
static size_t name_skip(const unsigned char *answer, size_t len, size_t at) {
    while (at < len) {
        if (answer[at] == 0)
            return at + 1;
        if ((answer[at] & 0xc0) == 0xc0)
            return at + 2 <= len ? at + 2 : 0;
        if (answer[at] & 0xc0)
            return 0;
        at += 1u + answer[at];
    }
    return 0;
}

int dns_answer_parse(const unsigned char *answer, size_t len, uint16_t id,
                     enum socket_outcome *ret_outcome, char (*ret)[46], size_t max,
                     size_t *ret_count) {
    size_t at = HEADER, count = 0;
    unsigned questions, records, rcode;

    if (len < HEADER || get16(answer) != id || !(answer[2] & 0x80))
        return -1;
    questions = get16(answer + 4);
    records = get16(answer + 6);
    while (questions--) {
        at = name_skip(answer, len, at);
        if (!at || at + 4 > len)
            return -1;
        at += 4;
    }
    while (records-- && count < max) {
        const unsigned char *ip;
        unsigned type;
        size_t size;

        at = name_skip(answer, len, at);
        if (!at || at + 10 > len)
            break; /* The message is cut, but the records so far count. */
        size = get16(answer + at + 8);
        if (at + 10 + size > len)
            break;
        ip = answer + at + 10;
        type = get16(answer + at + 2) == CLASS_IN ? get16(answer + at) : 0;
        if (type == TYPE_A && size == 4)
            snprintf(ret[count++], 46, "%u.%u.%u.%u", ip[0], ip[1], ip[2], ip[3]);
        else if (type == TYPE_AAAA && size == 16)
            snprintf(ret[count++], 46, "%x:%x:%x:%x:%x:%x:%x:%x", get16(ip), get16(ip + 2),
                     get16(ip + 4), get16(ip + 6), get16(ip + 8), get16(ip + 10), get16(ip + 12),
                     get16(ip + 14));
        at += 10 + size;
    }
    rcode = answer[3] & 0x0f;
    *ret_outcome = rcode == 0                ? SOCKET_OK
                   : rcode == RCODE_NXDOMAIN ? SOCKET_DNS_NXDOMAIN
                                             : SOCKET_DNS_SERVFAIL;
    *ret_count = count;
    return 0;
}
