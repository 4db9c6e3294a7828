/* What a service did and does: the SCM's word, and what winjoin's service host wrote down of the
 * programs that ended. */
#include "services/service_status.h"

#include "base/rfc3339.h"
#include "services/service_log.h"

enum { LIFE_MAX = 16 * 1024, ENDS_KEPT = 10, TAIL_MAX = 64 * 1024, ERRORS_SHOWN = 2 };

/* ---- what the service host writes down ---- */

static char *life_path(const char *name) {
    return xasprintf("%s\\%s.life", SERVICE_SETTINGS_DIR, name);
}

/* New reference; an empty object where nothing is written down. */
static json_t *life_read(struct host *host, const char *name) {
    _cleanup_(freep) char *path = life_path(name);
    _cleanup_json_ json_t *life = NULL;

    (void)host_read_json(host, path, LIFE_MAX, &life, ERROR_IGNORED);
    return json_is_object(life) ? take_ptr(life) : json_object();
}

static void life_write(struct host *host, const char *name, const json_t *life) {
    _cleanup_(freep) char *path = life_path(name), *text = json_write(life);

    (void)host_write(host, path, text, strlen(text), HOST_SECRET, ERROR_IGNORED);
}

static json_t *time_now(struct host *host) {
    return json_string(RFC3339_TEXT(host_now(host)));
}

void service_life_begin(struct host *host, const char *name) {
    _cleanup_json_ json_t *life = life_read(host, name);

    json_object_set_new(life, "started", time_now(host));
    life_write(host, name, life);
}

void service_life_end(struct host *host, const char *name, bool asked, unsigned exit_code) {
    _cleanup_json_ json_t *life = life_read(host, name);
    json_t *ends = json_array_in(life, "ends");

    json_object_set_new(life, "ended", time_now(host));
    json_object_set_new(life, "asked", json_boolean(asked));
    json_object_set_new(life, "exitCode", json_integer((json_int_t)exit_code));
    if (!asked)
        json_array_append_new(ends, time_now(host));
    while (json_array_size(ends) > ENDS_KEPT)
        json_array_remove(ends, 0);
    life_write(host, name, life);
}

/* ---- the document ---- */

static int recent_ends(const json_t *life, int64_t now) {
    int n = 0;

    json_each(json_object_get(life, "ends"), i, end)
        n += rfc3339_seconds(json_string_value(end)) > now - SERVICE_RECENT_SECONDS;
    return n;
}

static int64_t last_time_in(const char *log, int64_t now) {
    int64_t last_us = 0;

    for (const char *line = log; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        int64_t us;

        if (service_log_time(line, strcspn(line, "\n"), now, &us))
            last_us = us;
    }
    return last_us / 1000000;
}

static void add_since(json_t *status, int64_t seconds) {
    if (!seconds)
        return;
    json_object_set_new(status, "since", json_string(RFC3339_TEXT(seconds)));
}

/* The service host's record of an end is the SCM's only as long as it is of the same end. */
static void add_end(json_t *status, const struct host_service *found, const json_t *life) {
    bool is_down = found->state == HOST_SERVICE_STOPPED;
    json_t *asked = json_object_get(life, "asked");
    long long code = is_down ? (long long)found->exit_code : json_number_at(life, "exitCode", -1);

    if (code < 0 || code == SERVICE_NEVER_STARTED)
        return;
    json_object_set_new(status, "exitCode", json_integer((json_int_t)code));
    if (is_down && code == 0)
        json_object_set_new(status, "asked", json_true());
    else if (asked && !is_down)
        json_object_set(status, "asked", asked);
}

static void add_log(json_t *status, struct host *host, const struct service *row,
                    const struct host_service *found, bool tell_errors) {
    _cleanup_(text_list_free) struct text_list words = {0};
    _cleanup_(freep) char *tail = NULL;

    json_object_set_new(status, "log", json_string(row->log_file));
    if (!tell_errors)
        return;
    tail = service_log_tail(host, row->log_file, TAIL_MAX);
    if (!tail)
        return;
    service_log_words(tail, ERRORS_SHOWN, &words);
    if (words.count)
        json_object_set_new(status, "lastErrors", json_texts(&words));
    if (!json_object_get(status, "since") && found->state == HOST_SERVICE_STOPPED)
        add_since(status, last_time_in(tail, host_now(host)));
}

int service_status_read(struct host *host, const char *name, json_t **ret, struct error *err) {
    _cleanup_(host_service_free) struct host_service found = {0};
    const struct service *row = service_by_name(name);
    _cleanup_json_ json_t *life = NULL;
    json_t *status;
    int ends;

    if (host_service_query(host, name, &found, err) < 0)
        return -1;
    life = life_read(host, name);
    ends = recent_ends(life, host_now(host));
    status = json_pack("{s:s, s:s, s:b}", "name", row ? row->name : name, "state",
                       host_service_states[found.state], "winjoin", (int)service_is_ours(&found));
    *ret = status;
    if (found.state == HOST_SERVICE_ABSENT)
        return 0;
    json_object_set_new(status, "start", json_string(found.auto_start ? "auto" : "demand"));
    if (found.state == HOST_SERVICE_STOPPED)
        add_since(status, rfc3339_seconds(json_text_at(life, "ended")));
    else
        add_since(status,
                  found.started ? found.started : rfc3339_seconds(json_text_at(life, "started")));
    add_end(status, &found, life);
    if (ends)
        json_object_set_new(status, "recentEnds", json_integer(ends));
    if (row && service_is_ours(&found))
        add_log(status, host, row, &found,
                found.state == HOST_SERVICE_STOPPED || ends >= SERVICE_CRASHES);
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
