/* Reads and writes RFC 3339 times in UTC and Go durations. */
#pragma once

#include <stdint.h>

#include "base/error.h"

enum { RFC3339_TEXT_MAX = 32 };

/* Returns the days from 1970-01-01 to a date of the proleptic Gregorian calendar. `month` and `day`
 * count from 1. */
int64_t calendar_days(int64_t year, int month, int day);

/* Writes seconds since 1970 (years 0 to 9999) as "2026-11-21T10:00:04Z" into `out` and returns
 * `out`. RFC3339_TEXT() supplies a buffer that lives until the enclosing block ends. */
#define RFC3339_TEXT(unix_seconds) rfc3339_format(unix_seconds, (char[RFC3339_TEXT_MAX]){0})
char *rfc3339_format(int64_t unix_seconds, char out[RFC3339_TEXT_MAX]);
/* Parses an RFC 3339 time into seconds since 1970. Fractions are dropped and time zone offsets
 * applied. As in Go's time.Parse, lower-case letters and leap seconds are refused. Fails with
 * ERROR_MALFORMED. */
int rfc3339_parse(const char *text, int64_t *ret, struct error *err);
/* Parses an RFC 3339 time into seconds since 1970. Returns 0 for NULL and for other text. */
int64_t rfc3339_seconds(const char *text);

/* Parses a duration as Kubernetes writes it ("5m0s", "1m30s", "250ms", "0"; Go's
 * time.ParseDuration) into nanoseconds, which may be negative. Fails with ERROR_MALFORMED. */
int go_duration_read(const char *text, int64_t *ret_nanoseconds, struct error *err);

/* Parses a Go duration into milliseconds, rounded down, but a duration above 0 gives at least 1.
 * Negative durations fail with ERROR_MALFORMED too. */
int go_duration_parse(const char *text, int64_t *ret_milliseconds, struct error *err);

enum { GO_DURATION_TEXT_MAX = 40 };

/* Writes a duration as Go's Duration.String() does: "5m0s", "1h30m0s", "1.5s", "250ms", "0s". */
void go_duration_format(int64_t nanoseconds, char ret[GO_DURATION_TEXT_MAX]);
