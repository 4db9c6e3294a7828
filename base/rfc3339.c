/* Reads and writes RFC 3339 times in UTC and Go durations. */
#include "base/rfc3339.h"

#include "base/text.h"

/* Computes with years that begin in March, so that the leap day is the last day of the year.
 * date_from_days() is the inverse. */
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

#define NO_TIME "read time '%.40s': not an RFC 3339 time"

/* Does the text begin with this pattern? '0' in the pattern matches any digit. */
static bool has_shape(const char *text, const char *shape) {
    for (; *shape; shape++, text++)
        if (*shape == '0' ? *text < '0' || *text > '9' : *text != *shape)
            return false;
    return true;
}

/* Returns the number that the next `count` digits form. */
static int digits(const char *p, int count) {
    int value = 0;

    for (; count--; p++)
        value = value * 10 + (*p - '0');
    return value;
}

int rfc3339_parse(const char *text, int64_t *ret, struct error *err) {
    static const char shape[] = "0000-00-00T00:00:00";
    int y, m, d, y2, m2, d2, hour, minute, second, away_hours = 0, away_minutes = 0;
    const char *p = text + sizeof shape - 1;
    int64_t days, away;

    if (!has_shape(text, shape))
        return error_set(err, ERROR_MALFORMED, NO_TIME, text);
    y = digits(text, 4), m = digits(text + 5, 2), d = digits(text + 8, 2);
    hour = digits(text + 11, 2), minute = digits(text + 14, 2), second = digits(text + 17, 2);
    if (has_shape(p, ".0"))
        p += 1 + strspn(p + 1, "0123456789");
    if ((*p == '+' || *p == '-') && has_shape(p + 1, "00:00"))
        away_hours = digits(p + 1, 2), away_minutes = digits(p + 4, 2);
    else if (*p != 'Z')
        return error_set(err, ERROR_MALFORMED, NO_TIME, text);
    days = calendar_days(y, m, d);
    /* When the result is another date, the month does not have that day. */
    date_from_days(days, &y2, &m2, &d2);
    if (m2 != m || d2 != d || hour > 23 || minute > 59 || second > 59 || away_hours > 23 ||
        away_minutes > 59 || p[*p == 'Z' ? 1 : 6])
        return error_set(err, ERROR_MALFORMED, NO_TIME, text);
    away = (*p == '-' ? -60 : 60) * (away_hours * 60 + away_minutes);
    *ret = days * 86400 + hour * 3600 + minute * 60 + second - away;
    return 0;
}

int64_t rfc3339_seconds(const char *text) {
    int64_t seconds;

    return text && rfc3339_parse(text, &seconds, NULL) == 0 ? seconds : 0;
}

/* ---- Go durations: time.ParseDuration and Duration.String ---- */

int go_duration_read(const char *text, int64_t *ret_nanoseconds, struct error *err) {
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1},   {"us", 1e3}, {"\xc2\xb5s", 1e3}, {"\xce\xbcs", 1e3},
                 {"ms", 1e6}, {"s", 1e9},  {"m", 60e9},        {"h", 3600e9}};
    static const char decimal[] = "0123456789";
    const char *p = text + (*text == '-' || *text == '+');
    double total = 0, unit = *p ? 1 : 0;
    bool nothing = text_equal(p, "0");

    while (unit && *p && !nothing) {
        size_t whole = strspn(p, decimal), dot = p[whole] == '.',
               part = dot ? strspn(p + whole + 1, decimal) : 0, len;
        /* strtod() also reads exponents ("1e5"); then no unit follows, and the text is refused. */
        double value = strtod(p, NULL);

        p += whole + dot + part;
        len = strcspn(p, ".0123456789"); /* A unit ends before the next digit or dot. */
        unit = 0;
        for (size_t i = 0; whole + part && i < ARRAY_SIZE(units); i++)
            if (strlen(units[i].name) == len && strncmp(p, units[i].name, len) == 0)
                unit = units[i].ns;
        p += len;
        total += value * unit;
    }
    if (!unit || total >= 0x1p63)
        return error_set(err, ERROR_MALFORMED,
                         "read duration '%.40s': not a duration like 30s, 5m or 1h30m", text);
    *ret_nanoseconds = (*text == '-' ? -1 : 1) * (int64_t)(total + 0.5);
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

/* Writes `ns` in the given unit with its decimals, without zeros at the end. */
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
    /* The buffer is large enough for every duration. */
    (void)text_format(ret, GO_DURATION_TEXT_MAX, "%s", text_str(&out));
}
