/* Writes DNS queries and parses DNS answers (RFC 1035 section 4) in memory. */
#pragma once

#include <stdbool.h>

#include "host/socket.h"

enum { DNS_QUERY_MAX = 2048, DNS_ANSWER_MAX = 4096 };

/* Writes a query for A or AAAA records with recursion desired, padded to `size` bytes when it is
 * shorter (EDNS, RFC 7830). Returns its length, or 0 when the name is not a valid DNS name. */
size_t dns_query_make(unsigned char out[DNS_QUERY_MAX], uint16_t id, const char *name, bool ipv6,
                      size_t size);
/* Parses an answer. Returns -1 when it does not belong to the query with this id; the caller should
 * wait for another one. Else returns 0 with the outcome and the addresses of the A and AAAA
 * records. */
int dns_answer_parse(const unsigned char *answer, size_t len, uint16_t id,
                     enum socket_outcome *ret_outcome, char (*ret)[46], size_t max,
                     size_t *ret_count);
