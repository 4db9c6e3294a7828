/* Lines of blank-separated fields: the shape of every file in the probe's mailbox. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { PROBE_FIELDS_MAX = 10, PROBE_FIELD_MAX = 400 };

struct probe_reader {
    const char *at, *end;
    const char *what; /* "probes", for messages */
    size_t line;      /* number of the line read last */
    size_t count;     /* its fields */
    char fields[PROBE_FIELDS_MAX][PROBE_FIELD_MAX];
};

/* Starts at the first line, which must be "<title> 1". Fails with ERROR_MALFORMED. */
int probe_reader_open(struct probe_reader *reader, const char *text, size_t len, const char *title,
                      struct error *err);
/* 1 with the next line's fields, 0 at the end, -1 with ERROR_MALFORMED (bytes outside printable
 * ASCII, too many or too long fields). Empty lines are passed over; LF and CRLF end a line. */
int probe_reader_next(struct probe_reader *reader, struct error *err);
/* Field i as a number, or -1 with ERROR_MALFORMED that names line and field. */
int probe_reader_number(struct probe_reader *reader, size_t i, const char *name, long long min,
                        long long max, unsigned *ret, struct error *err);
/* Field i as text of at most size - 1 bytes; "-" becomes "". */
int probe_reader_text(struct probe_reader *reader, size_t i, const char *name, char *ret,
                      size_t size, struct error *err);
/* -1 with ERROR_MALFORMED: "decode probes: line 3: <why>". */
int probe_reader_fail(const struct probe_reader *reader, struct error *err, const char *why);

/* "a,b,c" into at most `max` addresses of 45 bytes; -1 when one is no address text. "" = none. */
int probe_addresses_split(const char *text, char (*ret)[46], size_t max, size_t *ret_count);
/* true for 1..64 characters of [a-z0-9.-]. */
bool probe_id_is_valid(const char *id);
/* true for an address or a DNS name: [A-Za-z0-9._:-], 1..253 characters, not beginning with '-'. */
bool probe_target_is_valid(const char *target);
