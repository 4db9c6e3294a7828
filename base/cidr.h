/* IP addresses and prefixes as numbers: what subnets contain, overlap, and which address is the
 * nth. Text forms by RFC 4632 and RFC 5952. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum { IP_TEXT_MAX = 46, CIDR_TEXT_MAX = 50 };

struct ip {
    int family;        /* 4 or 6; 0 = none */
    uint8_t bytes[16]; /* network order; IPv4 in the first four */
};

struct cidr {
    struct ip base; /* host bits are zero */
    int length;     /* prefix length */
};

/* Strict: no leading zeros, no brackets, no zone. Fails with ERROR_MALFORMED. */
int ip_parse(const char *text, struct ip *ret, struct error *err);
/* In `out`; IP_TEXT() and CIDR_TEXT() where the block that they stand in is all that needs it. */
char *ip_format(const struct ip *ip, char out[IP_TEXT_MAX]);
#define IP_TEXT(ip) ip_format(ip, (char[IP_TEXT_MAX]){0})
bool ip_equal(const struct ip *a, const struct ip *b);
bool ip_is_loopback(const struct ip *ip);
bool ip_is_link_local(const struct ip *ip); /* 169.254/16 (APIPA), fe80::/10 */
/* "10.244.1.0/24"; an address with host bits set is masked. Fails with ERROR_MALFORMED. */
int cidr_parse(const char *text, struct cidr *ret, struct error *err);
char *cidr_format(const struct cidr *cidr, char out[CIDR_TEXT_MAX]);
#define CIDR_TEXT(cidr) cidr_format(cidr, (char[CIDR_TEXT_MAX]){0})
bool cidr_contains(const struct cidr *cidr, const struct ip *ip);
bool cidr_contains_cidr(const struct cidr *outer, const struct cidr *inner);
bool cidr_overlaps(const struct cidr *a, const struct cidr *b);
/* base + n. Fails with ERROR_USAGE when that lies outside the prefix. */
int cidr_address(const struct cidr *cidr, uint64_t n, struct ip *ret, struct error *err);
/* The same as text. */
int cidr_address_text(const struct cidr *cidr, uint64_t n, char out[IP_TEXT_MAX],
                      struct error *err);
