/* The few bytes of DNS that a straight question needs (RFC 1035 section 4). Pure. */
#pragma once

#include <stdbool.h>

#include "host/socket.h"

enum { DNS_QUERY_MAX = 2048, DNS_ANSWER_MAX = 4096 };

/* A question for A records, or AAAA, recursion desired, padded to `size` bytes where it is shorter
 * (EDNS, RFC 7830). Its length, or 0 when the name is not a DNS name. */
size_t dns_query_make(unsigned char out[DNS_QUERY_MAX], uint16_t id, const char *name, bool ipv6,
                      size_t size);
/* -1: not an answer to that question (wait for another). Otherwise 0 with the outcome and the A
 * and AAAA records found. */
int dns_answer_parse(const unsigned char *answer, size_t len, uint16_t id,
                     enum socket_outcome *ret_outcome, char (*ret)[46], size_t max,
                     size_t *ret_count);
