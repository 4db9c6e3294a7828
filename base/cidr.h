/* Handles IP addresses and prefixes as numbers: which addresses and subnets a subnet contains,
 * whether two overlap, and which address is the nth. Text forms follow RFC 4632 and RFC 5952. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum { IP_TEXT_MAX = 46, CIDR_TEXT_MAX = 50 };

struct ip {
    int family;        /* Address family: 4 or 6; 0 when there is no address. */
    uint8_t bytes[16]; /* Address in network byte order; IPv4 uses the first four bytes. */
};

struct cidr {
    struct ip base; /* First address of the prefix; its host bits are zero. */
    int length;     /* Prefix length in bits. */
};

/* Parses an address strictly: leading zeros in IPv4, brackets and zones are refused. Fails with
 * ERROR_MALFORMED. */
int ip_parse(const char *text, struct ip *ret, struct error *err);
/* Writes an address as text into `out` and returns `out`. IP_TEXT() and CIDR_TEXT() supply a buffer
 * that lives until the enclosing block ends. */
char *ip_format(const struct ip *ip, char out[IP_TEXT_MAX]);
#define IP_TEXT(ip) ip_format(ip, (char[IP_TEXT_MAX]){0})
bool ip_equal(const struct ip *a, const struct ip *b);
bool ip_is_loopback(const struct ip *ip);
/* Is the address in 169.254.0.0/16 (APIPA) or fe80::/10? */
bool ip_is_link_local(const struct ip *ip);
/* Parses a prefix such as "10.244.1.0/24". Host bits that are set are cleared. Fails with
 * ERROR_MALFORMED. */
int cidr_parse(const char *text, struct cidr *ret, struct error *err);
char *cidr_format(const struct cidr *cidr, char out[CIDR_TEXT_MAX]);
#define CIDR_TEXT(cidr) cidr_format(cidr, (char[CIDR_TEXT_MAX]){0})
bool cidr_contains(const struct cidr *cidr, const struct ip *ip);
bool cidr_contains_cidr(const struct cidr *outer, const struct cidr *inner);
bool cidr_overlaps(const struct cidr *a, const struct cidr *b);
/* Returns the prefix's first address plus n. Fails with ERROR_USAGE outside the prefix. */
int cidr_address(const struct cidr *cidr, uint64_t n, struct ip *ret, struct error *err);
/* Writes the prefix's first address plus n as text into `out`. Fails with ERROR_USAGE when that
 * address is outside the prefix. */
int cidr_address_text(const struct cidr *cidr, uint64_t n, char out[IP_TEXT_MAX],
                      struct error *err);
