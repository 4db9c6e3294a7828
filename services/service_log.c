/* What is in the log of a service: why its program ended, and when a line was written. */
#include "services/service_log.h"

#include <time.h>

#include "base/redact.h"
#include "base/rfc3339.h"

enum { LINE_MAX_SHOWN = 300, SECONDS_A_DAY = 86400, US = 1000000 };

static bool has_klog_mark(const char *line, size_t len) {
    return len > 5 && (line[0] == 'E' || line[0] == 'F') && strspn(line + 1, "0123456789") == 4 &&
           line[5] == ' ';
}

/* klog "E1122 ", logrus "level=error", Go's "panic: " and "fatal error: ". */
static bool tells_why(const char *line, size_t len) {
    static const char *const marks[] = {"level=error", "level=fatal",
                                        "panic: ", "fatal error: ", "error: "};
    _cleanup_(freep) char *text = xstrndup(line, len);

    if (has_klog_mark(line, len))
        return true;
    for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
        if (strstr(text, marks[i]))
            return true;
    return false;
}

/* Walks back from the end; answers how many lines it took. */
static size_t collect(const char *log, bool marked, size_t max, struct text_list *ret) {
    const char *end = log + strlen(log);
    const char *found[8];
    size_t lengths[8], count = 0;

    while (end > log && count < max && count < ARRAY_SIZE(found)) {
        const char *begin = end;
        size_t len;

        while (begin > log && begin[-1] != '\n')
            begin--;
        len = (size_t)(end - begin);
        while (len && (begin[len - 1] == '\r' || begin[len - 1] == ' '))
            len--;
        if (len && (!marked || tells_why(begin, len))) {
            found[count] = begin;
            lengths[count++] = len < LINE_MAX_SHOWN ? len : LINE_MAX_SHOWN;
        }
        end = begin > log ? begin - 1 : log;
    }
    for (size_t i = count; i-- > 0;) {
        char *line = xstrndup(found[i], lengths[i]);

        redact_tokens(line);
        text_list_add_owned(ret, line);
    }
    return count;
}

void service_log_words(const char *log, size_t max, struct text_list *ret) {
    if (!collect(log, true, max, ret))
        (void)collect(log, false, max, ret); /* an empty log has nothing to say */
}

/* ---- when ---- */

/* The digits behind a point as microseconds. */
static int64_t fraction(const char *digits) {
    int64_t us = 0;

    for (int i = 0; i < 6; i++) {
        us *= 10;
        if (*digits >= '0' && *digits <= '9')
            us += *digits++ - '0';
    }
    return us;
}

static bool rfc3339_time(const char *text, int64_t *ret_us) {
    char copy[64];
    const char *point;
    int64_t seconds;

    (void)text_format(copy, sizeof copy, "%.*s", (int)strcspn(text, " \"\t\r\n"), text);
    if (!strchr(copy, 'T') || rfc3339_parse(copy, &seconds, NULL) < 0)
        return false;
    point = strchr(copy, '.');
    *ret_us = seconds * US + (point ? fraction(point + 1) : 0);
    return true;
}

static int two(const char *digits) {
    return (digits[0] - '0') * 10 + digits[1] - '0';
}

/* "E1122 10:15:02.123456": what is where, 'd' for a digit. */
static bool has_klog_form(const char *line) {
    static const char form[] = "?dddd dd:dd:dd";

    for (size_t i = 0; form[i]; i++)
        if (form[i] == '?'   ? !line[i] || !strchr("IWEF", line[i])
            : form[i] == 'd' ? line[i] < '0' || line[i] > '9'
                             : line[i] != form[i])
            return false;
    return true;
}

static bool klog_time(const char *line, int64_t now, int64_t *ret_us) {
    char today[RFC3339_TEXT_MAX]; /* UTC, up to a day off: next year's lines are the last one's */
    time_t then;
    struct tm tm;

    if (!has_klog_form(line))
        return false;
    rfc3339_format(now + SECONDS_A_DAY, today);
    tm = (struct tm){.tm_year = (int)strtol(today, NULL, 10) - 1900,
                     .tm_mon = two(line + 1) - 1,
                     .tm_mday = two(line + 3),
                     .tm_hour = two(line + 6),
                     .tm_min = two(line + 9),
                     .tm_sec = two(line + 12),
                     .tm_isdst = -1};
    then = mktime(&tm);
    if (then > (time_t)(now + SECONDS_A_DAY)) { /* of last year */
        tm.tm_year--;
        tm.tm_isdst = -1;
        then = mktime(&tm);
    }
    *ret_us = (int64_t)then * US + (line[14] == '.' ? fraction(line + 15) : 0);
    return true;
}

bool service_log_time(const char *line, size_t len, int64_t now, int64_t *ret_us) {
    enum { LOOKED_AT = 160 };
    char head[LOOKED_AT + 1];
    const char *logrus;

    (void)text_format(head, sizeof head, "%.*s", (int)(len < LOOKED_AT ? len : LOOKED_AT), line);
    logrus = strstr(head, "time=\"");
    return rfc3339_time(head, ret_us) || klog_time(head, now, ret_us) ||
           (logrus && rfc3339_time(logrus + strlen("time=\""), ret_us));
}

char *service_log_tail(struct host *host, const char *path, size_t max) {
    _cleanup_(freep) char *part = NULL;
    uint64_t size, from;
    const char *begin;
    size_t len;

    /* what cannot be read is not shown */
    if (host_read_part(host, path, 0, 0, &part, &len, &size, ERROR_IGNORED) < 0)
        return NULL;
    from = size > max ? size - max : 0;
    freep(&part);
    if (host_read_part(host, path, from, max, &part, &len, &size, ERROR_IGNORED) < 0)
        return NULL;
    begin = from ? strchr(part, '\n') : NULL;
    return xstrdup(begin ? begin + 1 : part);
}
