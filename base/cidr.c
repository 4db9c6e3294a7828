/* Parses, formats and compares IP addresses and prefixes as numbers. */
#include "base/cidr.h"

#include "base/text.h"

static int bits_of(const struct ip *ip) {
    return ip->family == 4 ? 32 : 128;
}

static bool parse_v4(const char *text, uint8_t out[4]) {
    for (int part = 0; part < 4; part++) {
        size_t n = strspn(text, "0123456789");
        unsigned long value = strtoul(text, NULL, 10);

        if (n == 0 || value > 255 || (n > 1 && *text == '0') || text[n] != (part < 3 ? '.' : '\0'))
            return false;
        out[part] = (uint8_t)value;
        text += n + 1;
    }
    return true;
}

/* Parses an IPv6 address by RFC 4291 section 2.2: groups of hex digits, at most one "::", and
 * optionally an IPv4 address at the end. */
static bool parse_v6(const char *p, uint8_t out[16]) {
    int used = 0, gap = -1;

    memset(out, 0, 16);
    if (p[0] == ':' && p[1] != ':')
        return false;
    while (*p && used <= 16) {
        if (p[0] == ':' && p[1] == ':') {
            if (gap >= 0)
                return false;
            gap = used;
            p += 2;
            continue;
        }
        if (used && *p == ':' && gap != used)
            p++;
        if (strchr(p, '.') && !strchr(p, ':')) {
            if (used > 12 || !parse_v4(p, out + used))
                return false;
            used += 4;
            break;
        }
        size_t n = strspn(p, "0123456789abcdefABCDEF");
        unsigned long value = strtoul(p, NULL, 16);

        if (n == 0 || n > 4 || used > 14 || (p[n] && p[n] != ':'))
            return false;
        out[used++] = (uint8_t)(value >> 8);
        out[used++] = (uint8_t)value;
        p += n;
    }
    if (gap < 0)
        return used == 16;
    if (used >= 16)
        return false;
    memmove(out + 16 - (used - gap), out + gap, (size_t)(used - gap));
    memset(out + gap, 0, (size_t)(16 - used));
    return true;
}

int ip_parse(const char *text, struct ip *ret, struct error *err) {
    struct ip ip = {0};

    ip.family = strchr(text, ':') ? 6 : 4;
    if (strlen(text) >= IP_TEXT_MAX ||
        !(ip.family == 4 ? parse_v4(text, ip.bytes) : parse_v6(text, ip.bytes)))
        return error_set(err, ERROR_MALFORMED, "read address '%.60s': not an IP address", text);
    *ret = ip;
    return 0;
}

char *ip_format(const struct ip *ip, char out[IP_TEXT_MAX]) {
    const uint8_t *b = ip->bytes;

    if (ip->family == 4)
        (void)text_format(out, IP_TEXT_MAX, "%u.%u.%u.%u", b[0], b[1], b[2], b[3]);
    else if (ip->family == 6) {
        _cleanup_(text_free) struct text t = {0};
        int best = -1, best_len = 1;

        /* By RFC 5952, the longest run of two or more zero groups becomes "::". */
        for (int i = 0, run = 0; i < 8; i++) {
            run = b[2 * i] || b[2 * i + 1] ? 0 : run + 1;
            if (run > best_len) {
                best_len = run;
                best = i - run + 1;
            }
        }
        for (int i = 0; i < 8; i++) {
            if (i == best) {
                text_add(&t, "::");
                i += best_len - 1;
                continue;
            }
            if (i && i != best + best_len)
                text_add_char(&t, ':');
            text_addf(&t, "%x", (unsigned)b[2 * i] << 8 | b[2 * i + 1]);
        }
        /* An IPv6 address has at most 39 characters, so it always fits. */
        (void)text_format(out, IP_TEXT_MAX, "%s", text_str(&t));
    } else
        out[0] = '\0';
    return out;
}

bool ip_equal(const struct ip *a, const struct ip *b) {
    return a->family == b->family && memcmp(a->bytes, b->bytes, a->family == 4 ? 4 : 16) == 0;
}

bool ip_is_loopback(const struct ip *ip) {
    static const uint8_t one[16] = {[15] = 1};

    return ip->family == 4 ? ip->bytes[0] == 127 : memcmp(ip->bytes, one, 16) == 0;
}

bool ip_is_link_local(const struct ip *ip) {
    return ip->family == 4 ? ip->bytes[0] == 169 && ip->bytes[1] == 254
                           : ip->bytes[0] == 0xfe && (ip->bytes[1] & 0xc0) == 0x80;
}

static void clear_host_bits(struct ip *ip, int length) {
    for (int bit = length; bit < bits_of(ip); bit++)
        ip->bytes[bit / 8] &= (uint8_t) ~(0x80 >> bit % 8);
}

int cidr_parse(const char *text, struct cidr *ret, struct error *err) {
    const char *slash = strchr(text, '/');
    char address[IP_TEXT_MAX];
    struct cidr cidr;
    long long length;

    if (!slash || (size_t)(slash - text) >= sizeof address)
        return error_set(err, ERROR_MALFORMED,
                         "read prefix '%.60s': not a prefix like 10.244.0.0/16", text);
    memcpy(address, text, (size_t)(slash - text));
    address[slash - text] = '\0';
    if (ip_parse(address, &cidr.base, NULL) < 0 ||
        text_to_number(slash + 1, 0, bits_of(&cidr.base), &length) < 0 || slash[1] == '-' ||
        (slash[1] == '0' && slash[2]))
        return error_set(err, ERROR_MALFORMED,
                         "read prefix '%.60s': not a prefix like 10.244.0.0/16", text);
    cidr.length = (int)length;
    clear_host_bits(&cidr.base, cidr.length);
    *ret = cidr;
    return 0;
}

char *cidr_format(const struct cidr *cidr, char out[CIDR_TEXT_MAX]) {
    (void)text_format(out, CIDR_TEXT_MAX, "%s/%d", IP_TEXT(&cidr->base), cidr->length);
    return out;
}

bool cidr_contains(const struct cidr *cidr, const struct ip *ip) {
    struct ip masked = *ip;

    if (ip->family != cidr->base.family)
        return false;
    clear_host_bits(&masked, cidr->length);
    return ip_equal(&masked, &cidr->base);
}

bool cidr_contains_cidr(const struct cidr *outer, const struct cidr *inner) {
    return outer->length <= inner->length && cidr_contains(outer, &inner->base);
}

bool cidr_overlaps(const struct cidr *a, const struct cidr *b) {
    return cidr_contains_cidr(a, b) || cidr_contains_cidr(b, a);
}

int cidr_address(const struct cidr *cidr, uint64_t n, struct ip *ret, struct error *err) {
    struct ip ip = cidr->base;
    unsigned carry = 0;

    for (int i = bits_of(&ip) / 8 - 1; i >= 0; i--) {
        unsigned sum = ip.bytes[i] + (unsigned)(n & 0xff) + carry;

        ip.bytes[i] = (uint8_t)sum;
        carry = sum >> 8;
        n >>= 8;
    }
    if (carry || n || !cidr_contains(cidr, &ip))
        return error_set(err, ERROR_USAGE, "prefix of length %d has too few addresses",
                         cidr->length);
    *ret = ip;
    return 0;
}

int cidr_address_text(const struct cidr *cidr, uint64_t n, char out[IP_TEXT_MAX],
                      struct error *err) {
    struct ip ip = {0};
    if (cidr_address(cidr, n, &ip, err) < 0)
        return -1;
    ip_format(&ip, out);
    return 0;
}
