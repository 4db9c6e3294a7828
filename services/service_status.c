/* Reads the state and history of a service from the SCM, from what winjoin's service host has
 * recorded, and from the service's log. */
#include "services/service_status.h"

#include <time.h>

#include "base/redact.h"
#include "base/rfc3339.h"

enum { LINE_MAX_SHOWN = 300, SECONDS_A_DAY = 86400, US = 1000000 };

/* Is this an error line of klog ("E1122 "), of logrus ("level=error"), or of Go ("panic: ", "fatal
 * error: ")? */
static bool tells_why(const char *line, size_t len) {
    static const char *const marks[] = {"level=error", "level=fatal",
                                        "panic: ", "fatal error: ", "error: "};
    _cleanup_(freep) char *text = xstrndup(line, len);

    if (len > 5 && (line[0] == 'E' || line[0] == 'F') && strspn(line + 1, "0123456789") == 4 &&
        line[5] == ' ')
        return true;
    for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
        if (strstr(text, marks[i]))
            return true;
    return false;
}

/* Collects lines from the end of the log backward, and returns their count. */
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
        (void)collect(log, false, max, ret); /* An empty log has no lines to collect. */
}

/* ---- times of log lines ---- */

/* Converts the digits after a decimal point to microseconds. */
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

/* Reads a time such as "E1122 10:15:02.123456". */
static bool klog_time(const char *line, int64_t now, int64_t *ret_us) {
    static const char form[] = "?dddd dd:dd:dd"; /* The letter 'd' in the form means a digit. */
    /* A line has no year, so the year of tomorrow is tried first. A time that is then more than a
     * day ahead is from last year. */
    char today[RFC3339_TEXT_MAX];
    time_t then;
    struct tm tm;

    for (size_t i = 0; form[i]; i++)
        if (form[i] == '?'   ? !line[i] || !strchr("IWEF", line[i])
            : form[i] == 'd' ? line[i] < '0' || line[i] > '9'
                             : line[i] != form[i])
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
    if (then > (time_t)(now + SECONDS_A_DAY)) { /* The log line is from last year. */
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

    /* A file that cannot be read is not shown. */
    if (host_read_part(host, path, 0, 0, &part, &len, &size, ERROR_IGNORED) < 0)
        return NULL;
    from = size > max ? size - max : 0;
    freep(&part);
    if (host_read_part(host, path, from, max, &part, &len, &size, ERROR_IGNORED) < 0)
        return NULL;
    begin = from ? strchr(part, '\n') : NULL;
    return xstrdup(begin ? begin + 1 : part);
}

enum { LIFE_MAX = 16 * 1024, ENDS_KEPT = 10, TAIL_MAX = 64 * 1024, ERRORS_SHOWN = 2 };

/* ---- records of the service host ---- */

#define LIFE_FILE SERVICE_SETTINGS_DIR "\\%s.life"

/* Reads the record of a service; an empty object when there is none. New reference. */
static json_t *life_read(struct host *host, const char *name) {
    _cleanup_(freep) char *path = xasprintf(LIFE_FILE, name);
    _cleanup_json_ json_t *life = NULL;

    (void)host_read_json(host, path, LIFE_MAX, &life, ERROR_IGNORED);
    return json_is_object(life) ? take_ptr(life) : json_object();
}

static void life_write(struct host *host, const char *name, const json_t *life) {
    _cleanup_(freep) char *path = xasprintf(LIFE_FILE, name), *text = json_write(life);

    (void)host_write(host, path, text, strlen(text), HOST_SECRET, ERROR_IGNORED);
}

void service_life_begin(struct host *host, const char *name) {
    _cleanup_json_ json_t *life = life_read(host, name);

    json_set_text(life, "started", RFC3339_TEXT(host_now(host)));
    life_write(host, name, life);
}

void service_life_end(struct host *host, const char *name, bool asked, unsigned exit_code) {
    _cleanup_json_ json_t *life = life_read(host, name);
    json_t *ends = json_array_in(life, "ends");
    const char *now = RFC3339_TEXT(host_now(host));

    json_set_text(life, "ended", now);
    json_object_set_new(life, "asked", json_boolean(asked));
    json_object_set_new(life, "exitCode", json_integer((json_int_t)exit_code));
    if (!asked)
        json_array_append_new(ends, json_string(now));
    while (json_array_size(ends) > ENDS_KEPT)
        json_array_remove(ends, 0);
    life_write(host, name, life);
}

/* ---- the status document ---- */

/* Adds the errors in the service's log and, where no record says it, when the service stopped. */
static void add_log(json_t *status, struct host *host, const struct service *row, bool is_down) {
    _cleanup_(text_list_free) struct text_list words = {0};
    _cleanup_(freep) char *tail = service_log_tail(host, row->log_file, TAIL_MAX);
    int64_t last_us = 0, now;

    if (!tail)
        return;
    service_log_words(tail, ERRORS_SHOWN, &words);
    if (words.count)
        json_object_set_new(status, "lastErrors", json_texts(&words));
    if (json_object_get(status, "since") || !is_down)
        return;
    now = host_now(host);
    for (const char *line = tail; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        int64_t us;

        if (service_log_time(line, strcspn(line, "\n"), now, &us))
            last_us = us;
    }
    if (last_us / US)
        json_set_text(status, "since", RFC3339_TEXT(last_us / US));
}

int service_status_read(struct host *host, const char *name, json_t **ret, struct error *err) {
    _cleanup_(host_service_free) struct host_service found = {0};
    const struct service *row = service_by_name(name);
    _cleanup_json_ json_t *life = NULL;
    bool is_down;
    int64_t recent, since;
    long long code;
    json_t *status, *asked;
    int ends = 0;

    if (host_service_query(host, name, &found, err) < 0)
        return -1;
    is_down = found.state == HOST_SERVICE_STOPPED;
    life = life_read(host, name);
    recent = host_now(host) - SERVICE_RECENT_SECONDS;
    json_each(json_object_get(life, "ends"), i, end)
        ends += rfc3339_seconds(json_string_value(end)) > recent;
    status = json_pack("{s:s, s:s, s:b}", "name", row ? row->name : name, "state",
                       host_service_states[found.state], "winjoin", (int)service_is_ours(&found));
    *ret = status;
    if (found.state == HOST_SERVICE_ABSENT)
        return 0;
    json_set_text(status, "start", found.auto_start ? "auto" : "demand");
    since = !is_down && found.started
                ? found.started
                : rfc3339_seconds(json_text_at(life, is_down ? "ended" : "started"));
    if (since)
        json_set_text(status, "since", RFC3339_TEXT(since));

    /* A record of the service host may be about an older exit than the SCM's exit code. */
    asked = json_object_get(life, "asked");
    code = is_down ? (long long)found.exit_code : json_number_at(life, "exitCode", -1);
    if (code >= 0 && code != SERVICE_NEVER_STARTED) {
        json_object_set_new(status, "exitCode", json_integer((json_int_t)code));
        if (is_down && code == 0)
            json_object_set_new(status, "asked", json_true());
        else if (asked && !is_down)
            json_object_set(status, "asked", asked);
    }
    if (ends)
        json_object_set_new(status, "recentEnds", json_integer(ends));
    if (row && service_is_ours(&found)) {
        json_set_text(status, "log", row->log_file);
        if (is_down || ends >= SERVICE_CRASHES)
            add_log(status, host, row, is_down);
    }
    return 0;
}

bool service_status_runs(const json_t *list, const char *name) {
    json_each(list, i, status) {
        if (text_equal(json_text_at(status, "name"), name))
            return text_equal(json_text_at(status, "state"), "running") &&
                   json_bool_at(status, "winjoin", false);
    }
    return false;
}

bool service_status_is_down(const json_t *status) {
    static const char *const up[] = {"running", "starting"};
    const char *state = json_text_at(status, "state");

    if (json_number_at(status, "recentEnds", 0) >= SERVICE_CRASHES)
        return true;
    for (size_t i = 0; i < ARRAY_SIZE(up); i++)
        if (text_equal(state, up[i]))
            return false;
    return true;
}
