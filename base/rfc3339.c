/* Times as documents write them: RFC 3339 UTC, Go durations. */
#include "base/rfc3339.h"

#include "base/text.h"

/* Counts years from March, so that a leap day ends its year; and back. */
int64_t calendar_days(int64_t y, int m, int d) {
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

    date_from_days(calendar_days(y, m, d), &y2, &m2, &d2);
    return m2 == m && d2 == d;
}

char *rfc3339_format(int64_t unix_seconds, char out[RFC3339_TEXT_MAX]) {
    int64_t days = unix_seconds / 86400, rest = unix_seconds % 86400;
    int y, m, d;

    if (rest < 0) {
        rest += 86400;
        days--;
    }
    date_from_days(days, &y, &m, &d);
    (void)text_format(out, RFC3339_TEXT_MAX, "%04d-%02d-%02dT%02d:%02d:%02dZ", y, m, d,
                      (int)(rest / 3600), (int)(rest / 60 % 60), (int)(rest % 60));
    return out;
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
        !literal(p, ':') || !digits(p, 2, 0, 59, &s))
        return false;
    *seconds = h * 3600 + m * 60 + s;
    return true;
}

/* "Z" or "+hh:mm"; answers the seconds to take away. */
static bool offset(const char **p, int64_t *seconds) {
    int sign = **p == '-' ? -1 : 1, h, m;

    *seconds = 0;
    if (literal(p, 'Z'))
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
              literal(&p, '-') && digits(&p, 2, 1, 31, &d) && literal(&p, 'T') &&
              clock_time(&p, &time);

    if (ok && literal(&p, '.')) {
        ok = *p >= '0' && *p <= '9';
        while (*p >= '0' && *p <= '9')
            p++;
    }
    if (!ok || !offset(&p, &away) || *p || !is_date(y, m, d))
        return error_set(err, ERROR_MALFORMED, "read time '%.40s': not an RFC 3339 time", text);
    *ret = calendar_days(y, m, d) * 86400 + time - away;
    return 0;
}

/* ---- Go's durations: time.ParseDuration and Duration.String ---- */

static const uint64_t DURATION_MAX = (uint64_t)1 << 63;

/* The unit at *p, which ends before a digit or a dot, in nanoseconds; 0 when there is none. */
static uint64_t unit_at(const char **p) {
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"ns", 1},       {"us", 1000},      {"\xc2\xb5s", 1000}, {"\xce\xbcs", 1000},
                 {"ms", 1000000}, {"s", 1000000000}, {"m", 60000000000},  {"h", 3600000000000}};
    size_t len = strcspn(*p, ".0123456789");

    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strlen(units[i].name) == len && strncmp(*p, units[i].name, len) == 0) {
            *p += len;
            return units[i].ns;
        }
    }
    return 0;
}

/* Digits behind the dot: as many as count, and their scale. */
static double fraction_at(const char **p, double *scale) {
    uint64_t value = 0;

    for (*scale = 1; **p >= '0' && **p <= '9'; (*p)++) {
        if (value > (DURATION_MAX - 1) / 10 - 1)
            continue;
        value = value * 10 + (uint64_t)(**p - '0');
        *scale *= 10;
    }
    return (double)value;
}

/* One number with its unit at *p, added to *total. */
static bool part_at(const char **p, uint64_t *total) {
    const char *start = *p;
    uint64_t whole = 0, unit;
    double part = 0, scale = 1;
    size_t digits = 0;

    for (; **p >= '0' && **p <= '9'; (*p)++, digits++) {
        if (whole > DURATION_MAX / 10)
            return false;
        whole = whole * 10 + (uint64_t)(**p - '0');
    }
    if (**p == '.') {
        start = ++(*p);
        part = fraction_at(p, &scale);
        digits += (size_t)(*p - start);
    }
    unit = digits ? unit_at(p) : 0;
    if (!unit || whole > DURATION_MAX / unit)
        return false;
    whole = whole * unit + (uint64_t)(part * ((double)unit / scale));
    *total += whole;
    return whole <= DURATION_MAX && *total <= DURATION_MAX;
}

int go_duration_read(const char *text, int64_t *ret_nanoseconds, struct error *err) {
    bool negative = *text == '-', good = true;
    const char *p = text + (negative || *text == '+');
    uint64_t total = 0;

    if (!*p)
        good = false;
    else if (!text_equal(p, "0"))
        while (good && *p)
            good = part_at(&p, &total);
    if (!good || (!negative && total >= DURATION_MAX))
        return error_set(err, ERROR_MALFORMED,
                         "read duration '%.40s': not a duration like 30s, 5m or 1h30m", text);
    *ret_nanoseconds = negative ? (int64_t)(0 - total) : (int64_t)total;
    return 0;
}

int go_duration_parse(const char *text, int64_t *ret_milliseconds, struct error *err) {
    int64_t nanoseconds;

    if (go_duration_read(text, &nanoseconds, err) < 0)
        return -1;
    if (nanoseconds < 0)
        return error_set(err, ERROR_MALFORMED, "read duration '%.40s': it is negative", text);
    *ret_milliseconds = nanoseconds / 1000000 + (nanoseconds > 0 && nanoseconds < 1000000);
    return 0;
}

/* A number of `unit` with what is behind its dot, without noughts at the end. */
static void add_number(struct text *out, uint64_t ns, uint64_t unit, const char *name) {
    text_addf(out, "%llu", (unsigned long long)(ns / unit));
    if (ns % unit)
        text_add_char(out, '.');
    for (ns %= unit; ns; ns %= unit) {
        unit /= 10;
        text_add_char(out, (char)('0' + ns / unit));
    }
    text_add(out, name);
}

void go_duration_format(int64_t nanoseconds, char ret[GO_DURATION_TEXT_MAX]) {
    uint64_t ns = nanoseconds < 0 ? 0 - (uint64_t)nanoseconds : (uint64_t)nanoseconds,
             minutes = ns / 60000000000;
    _cleanup_(text_free) struct text out = {0};

    if (nanoseconds < 0)
        text_add_char(&out, '-');
    if (minutes >= 60)
        text_addf(&out, "%lluh", (unsigned long long)(minutes / 60));
    if (minutes)
        text_addf(&out, "%llum", (unsigned long long)(minutes % 60));
    if (ns >= 1000000000 || !ns)
        add_number(&out, ns % 60000000000, 1000000000, "s");
    else if (ns >= 1000000)
        add_number(&out, ns, 1000000, "ms");
    else if (ns >= 1000)
        add_number(&out, ns, 1000, "\xc2\xb5s");
    else
        add_number(&out, ns, 1, "ns");
    (void)text_format(ret, GO_DURATION_TEXT_MAX, "%s", text_str(&out)); /* it has room for all */
}
