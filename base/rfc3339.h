/* Times as documents write them: RFC 3339 UTC, and Go's durations. */
#pragma once

#include <stdint.h>

#include "base/error.h"

enum { RFC3339_TEXT_MAX = 32 };

/* Days since 1970-01-01 of a date in the proleptic Gregorian calendar; months from 1. */
int64_t calendar_days(int64_t year, int month, int day);

/* "2026-11-21T10:00:04Z" from seconds since 1970 (any year 0..9999), in `out`; RFC3339_TEXT() where
 * the block that it stands in is all that needs it. */
#define RFC3339_TEXT(unix_seconds) rfc3339_format(unix_seconds, (char[RFC3339_TEXT_MAX]){0})
char *rfc3339_format(int64_t unix_seconds, char out[RFC3339_TEXT_MAX]);
/* Accepts fractions and offsets; as Go's time.Parse no small letters and no leap seconds. Fails
 * with ERROR_MALFORMED. */
int rfc3339_parse(const char *text, int64_t *ret, struct error *err);
/* The same, 0 for NULL and for what is no time. */
int64_t rfc3339_seconds(const char *text);

/* Go durations as Kubernetes writes them ("5m0s", "1m30s", "250ms", "0"; time.ParseDuration):
 * nanoseconds, which may be negative. Fails with ERROR_MALFORMED. */
int go_duration_read(const char *text, int64_t *ret_nanoseconds, struct error *err);

/* The same in milliseconds, at least 1 when it is more than nothing. ERROR_MALFORMED for negative
 * ones, too. */
int go_duration_parse(const char *text, int64_t *ret_milliseconds, struct error *err);

enum { GO_DURATION_TEXT_MAX = 40 };

/* As Go's Duration.String() writes it: "5m0s", "1h30m0s", "1.5s", "250ms", "0s". */
void go_duration_format(int64_t nanoseconds, char ret[GO_DURATION_TEXT_MAX]);
