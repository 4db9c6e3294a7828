/* Times as documents write them: RFC 3339 UTC, HTTP's Date, Go durations. */
#include "base/rfc3339.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* Days since 1970-01-01 of a proleptic Gregorian date, and back (counting years from March). */
static int64_t days_from_date(int64_t y, int m, int d) {
    y -= m <= 2;
    int64_t era = (y >= 0 ? y : y - 399) / 400, yoe = y - era * 400;
    int64_t doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;

    return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

static void date_from_days(int64_t days, int *y, int *m, int *d) {
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097, doe = days - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;

    *d = (int)(doy - (153 * mp + 2) / 5 + 1);
    *m = (int)(mp + (mp < 10 ? 3 : -9));
    *y = (int)(yoe + era * 400 + (*m <= 2));
}

/* Whether that month of that year has that day. */
static bool is_date(int y, int m, int d) {
    int y2, m2, d2;

    date_from_days(days_from_date(y, m, d), &y2, &m2, &d2);
    return m2 == m && d2 == d;
}

void rfc3339_format(int64_t unix_seconds, char out[RFC3339_TEXT_MAX]) {
    int64_t days = unix_seconds / 86400, rest = unix_seconds % 86400;
    int y, m, d;

    if (rest < 0) {
        rest += 86400;
        days--;
    }
    date_from_days(days, &y, &m, &d);
    (void)text_format(out, RFC3339_TEXT_MAX, "%04d-%02d-%02dT%02d:%02d:%02dZ", y, m, d,
                      (int)(rest / 3600), (int)(rest / 60 % 60), (int)(rest % 60));
}

/* Reads exactly n digits at *p and moves on. */
static bool digits(const char **p, int n, int min, int max, int *ret) {
    int v = 0;

    for (; n--; (*p)++) {
        if (**p < '0' || **p > '9')
            return false;
        v = v * 10 + (**p - '0');
    }
    *ret = v;
    return v >= min && v <= max;
}

static bool literal(const char **p, char c) {
    return *(*p) == c ? ((*p)++, true) : false;
}

static bool clock_time(const char **p, int64_t *seconds) {
    int h, m, s;

    if (!digits(p, 2, 0, 23, &h) || !literal(p, ':') || !digits(p, 2, 0, 59, &m) ||
        !literal(p, ':') || !digits(p, 2, 0, 60, &s))
        return false;
    *seconds = h * 3600 + m * 60 + s;
    return true;
}

/* "Z" or "+hh:mm"; answers the seconds to take away. */
static bool offset(const char **p, int64_t *seconds) {
    int sign = **p == '-' ? -1 : 1, h, m;

    *seconds = 0;
    if (literal(p, 'Z') || literal(p, 'z'))
        return true;
    if (**p != '+' && **p != '-')
        return false;
    (*p)++;
    if (!digits(p, 2, 0, 23, &h) || !literal(p, ':') || !digits(p, 2, 0, 59, &m))
        return false;
    *seconds = sign * (h * 3600 + m * 60);
    return true;
}

int rfc3339_parse(const char *text, int64_t *ret, struct error *err) {
    const char *p = text;
    int64_t time, away;
    int y, m, d;
    bool ok = digits(&p, 4, 0, 9999, &y) && literal(&p, '-') && digits(&p, 2, 1, 12, &m) &&
              literal(&p, '-') && digits(&p, 2, 1, 31, &d) &&
              (literal(&p, 'T') || literal(&p, 't')) && clock_time(&p, &time);

    if (ok && literal(&p, '.')) {
        ok = *p >= '0' && *p <= '9';
        while (*p >= '0' && *p <= '9')
            p++;
    }
    if (!ok || !offset(&p, &away) || *p || !is_date(y, m, d))
        return error_set(err, ERROR_MALFORMED, "read time '%.40s': not RFC 3339", text);
    *ret = days_from_date(y, m, d) * 86400 + time - away;
    return 0;
}

int http_date_parse(const char *text, int64_t *ret, struct error *err) {
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const char *p = text + (strlen(text) > 5 ? 5 : 0), *found;
    char month[4] = "";
    int64_t time;
    int y = 0, d = 0;
    bool ok = p != text && text[3] == ',' && digits(&p, 2, 1, 31, &d) && literal(&p, ' ');

    if (ok && strlen(p) > 3) {
        memcpy(month, p, 3);
        p += 3;
    }
    found = strstr(months, month);
    ok = ok && month[0] && found && (found - months) % 3 == 0 && literal(&p, ' ') &&
         digits(&p, 4, 0, 9999, &y) && literal(&p, ' ') && clock_time(&p, &time) &&
         text_equal(p, " GMT") && is_date(y, (int)((found - months) / 3) + 1, d);
    if (!ok)
        return error_set(err, ERROR_MALFORMED, "read date '%.40s': not an HTTP date", text);
    *ret = days_from_date(y, (int)((found - months) / 3) + 1, d) * 86400 + time;
    return 0;
}

/* The unit at *p in nanoseconds (Go's time.ParseDuration), 0 when there is none. */
static uint64_t unit_at(const char **p) {
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"ns", 1},       {"us", 1000},      {"\xc2\xb5s", 1000}, {"\xce\xbcs", 1000},
                 {"ms", 1000000}, {"s", 1000000000}, {"m", 60000000000},  {"h", 3600000000000}};

    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (text_starts_with(*p, units[i].name)) {
            *p += strlen(units[i].name);
            return units[i].ns;
        }
    }
    return 0;
}

/* The number at *p with its unit; false: none, or too large. Whole part and fraction are kept apart
 * as Go does: 8.29s are 8290 ms, which 8.29 * 1000 are not. */
static bool duration_part(const char **p, uint64_t *total) {
    const char *start = *p, *point;
    uint64_t whole = 0, fraction = 0, unit;
    double scale = 1;

    for (; **p >= '0' && **p <= '9'; (*p)++) {
        if (whole > INT64_MAX / 10)
            return false;
        whole = whole * 10 + (uint64_t)(**p - '0');
    }
    point = *p;
    if (**p == '.')
        for ((*p)++; **p >= '0' && **p <= '9'; (*p)++)
            if (fraction < INT64_MAX / 10) {
                fraction = fraction * 10 + (uint64_t)(**p - '0');
                scale *= 10;
            }
    if (*p == start || (point == start && *p == point + 1))
        return false;
    unit = unit_at(p);
    if (!unit || whole > INT64_MAX / unit)
        return false;
    *total += whole * unit + (uint64_t)((double)fraction * ((double)unit / scale));
    return *total <= INT64_MAX;
}

int go_duration_parse(const char *text, int64_t *ret_milliseconds, struct error *err) {
    uint64_t total = 0;
    const char *p = text;
    bool ok = *text != '\0';

    if (text_equal(text, "0")) {
        *ret_milliseconds = 0;
        return 0;
    }
    while (ok && *p)
        ok = duration_part(&p, &total);
    if (!ok)
        return error_set(err, ERROR_MALFORMED, "read duration '%.40s': not like 30s, 5m or 1h30m",
                         text);
    *ret_milliseconds = (int64_t)(total / 1000000);
    return 0;
}

void go_duration_format(int64_t milliseconds, char out[GO_DURATION_TEXT_MAX]) {
    long long seconds = milliseconds / 1000, rest = milliseconds % 1000;
    char fraction[8] = "", hours[24] = "", minutes[8] = "";

    if (milliseconds && milliseconds < 1000) {
        (void)text_format(out, GO_DURATION_TEXT_MAX, "%lldms", (long long)milliseconds);
        return;
    }
    if (rest)
        (void)text_format(fraction, sizeof fraction, ".%03lld", rest);
    for (size_t len = strlen(fraction); len && fraction[len - 1] == '0'; len--)
        fraction[len - 1] = '\0';
    if (seconds >= 3600)
        (void)text_format(hours, sizeof hours, "%lldh", seconds / 3600);
    if (seconds >= 60)
        (void)text_format(minutes, sizeof minutes, "%lldm", seconds / 60 % 60);
    (void)text_format(out, GO_DURATION_TEXT_MAX, "%s%s%lld%ss", hours, minutes, seconds % 60,
                      fraction);
}
