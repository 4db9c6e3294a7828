/* Makes and reads the annotation with which a node reports on its network, and describes it. */
#include "diag/network_report.h"

#include "base/rfc3339.h"
#include "diag/drift/drift.h"

enum { VERSION = 1, NAMES = 3, NAME_MAX_LEN = 200, COUNT_MAX = 1000000, CAUSES = 8 };

/* ---- make the report ---- */

static json_t *drift_json(const json_t *drift, size_t names) {
    json_t *json = json_object();

    for (size_t k = 0; k < DRIFT_KINDS; k++) {
        const struct drift_kind *kind = &drift_kinds[k];
        const json_t *rows = json_object_get(drift, kind->key);
        json_t *first = json_array();

        json_each(rows, i, row) {
            const char *name = json_text_at(row, kind->name), *at = json_text_at(row, "frontend");
            /* Names a row by its frontend, too: "kube-system/kube-dns 10.96.0.10:53/UDP". */
            _cleanup_(freep) char *full = !name || !at || text_equal(kind->name, "frontend")
                                              ? xstrdup(name ? name : "?")
                                              : xasprintf("%s %s", name, at);

            if (i < names)
                json_array_append_new(first, json_string(full));
        }
        if (json_array_size(rows))
            json_object_set_new(
                json, kind->key,
                json_pack("{s:i, s:O}", "count", (int)json_array_size(rows), "first", first));
        json_decref(first);
    }
    return json;
}

json_t *network_report_diag(const struct diag_report *report) {
    json_t *failed = json_array(), *causes = json_array();
    struct diag_summary summary;

    diag_summary_make(report, &summary);
    for (size_t i = 0; i < report->cells.count; i++) {
        const struct diag_cell *cell = &report->cells.items[i];
        _cleanup_(freep) char *name = diag_cell_name(cell);

        if (cell->outcome == DIAG_FAIL && !(cell->flow->is & FLOW_EXTRA) &&
            json_array_size(failed) < NAMES)
            json_array_append_new(failed, json_string(name));
    }
    for (size_t i = 0; i < report->causes.count && i < CAUSES; i++)
        json_array_append_new(
            causes, json_pack("{s:s, s:s}", "id", report->causes.items[i].id, "confidence",
                              report->causes.items[i].confirmed ? "confirmed" : "likely"));
    return json_pack("{s:s, s:i, s:i, s:i, s:{s:i, s:o}, s:o, s:s*}", "time",
                     RFC3339_TEXT(report->time), "flows", (int)summary.flows, "flowsPassed",
                     (int)summary.flows_pass, "passed", (int)summary.pass, "failed", "count",
                     (int)summary.fail, "first", failed, "causes", causes, "message",
                     report->causes.count ? report->causes.items[0].message : NULL);
}

static json_t *report_json(const struct network_report_facts *facts, size_t names) {
    json_t *json =
        json_pack("{s:i, s:s, s:s*, s:s*}", "version", VERSION, "time", RFC3339_TEXT(facts->time),
                  "mode", facts->mode, "network", facts->network);
    const json_t *unread = json_object_get(facts->drift, "unread");

    if (facts->balancers) {
        size_t with = 0, count = facts->balancers->count;

        json_object_set_new(json, "loadBalancers", json_integer((json_int_t)count));
        for (size_t i = 0; i < count; i++)
            with += facts->balancers->items[i].dsr;
        if (count)
            json_set_text(json, "dsr", with == count ? "on" : with ? "mixed" : "off");
    }
    if (facts->drift)
        json_object_set_new(json, "drift", drift_json(facts->drift, names));
    if (unread) {
        json_t *what = json_array();

        /* Of "the Services: why" only the part before the colon is published: the rest is in words
         * of the server or of Windows. */
        json_each(unread, i, item) {
            const char *text = json_string_value(item);

            if (text)
                json_array_append_new(what, json_stringn(text, strcspn(text, ":")));
        }
        json_object_set_new(json, "unread", what);
    }
    if (facts->diag)
        json_object_set(json, "diag", (json_t *)facts->diag);
    return json;
}

char *network_report_make(const struct network_report_facts *facts) {
    for (size_t names = NAMES;; names--) {
        _cleanup_json_ json_t *json = report_json(facts, names), *clean = NULL;
        _cleanup_(freep) char *text = NULL;

        /* The report is cleaned in the same way as on reading. */
        (void)network_report_copy(json, &clean, ERROR_IGNORED);
        text = json_write(clean);
        if (!names || strlen(text) <= NETWORK_REPORT_MAX)
            return take_ptr(text);
    }
}

/* ---- read the report ---- */

static bool is_plain(const char *text) {
    size_t len = text ? strlen(text) : 0;

    if (!len || len > NAME_MAX_LEN)
        return false;
    for (size_t i = 0; i < len; i++)
        if (text[i] < ' ' || text[i] > '~' || strchr("\"\\<>&`", text[i]))
            return false;
    return true;
}

static void copy_text(const json_t *from, const char *key, json_t *ret) {
    const char *text = json_text_at(from, key);

    if (is_plain(text))
        json_object_set_new(ret, key, json_string(text));
}

static void copy_word(const json_t *from, const char *key, const char *const *words, json_t *ret) {
    const char *text = json_text_at(from, key);

    for (; *words; words++)
        if (text_equal(text, *words))
            json_object_set_new(ret, key, json_string(text));
}

static bool copy_number(const json_t *from, const char *key, json_t *ret) {
    long long value = json_number_at(from, key, -1);

    if (value < 0 || value > COUNT_MAX)
        return false;
    json_object_set_new(ret, key, json_integer(value));
    return true;
}

static bool copy_time(const json_t *from, json_t *ret) {
    const char *time = json_text_at(from, "time");
    int64_t seconds;

    if (!is_plain(time) || rfc3339_parse(time, &seconds, NULL) < 0)
        return false;
    json_object_set_new(ret, "time", json_string(time));
    return true;
}

static void copy_names(const json_t *from, const char *key, size_t most, json_t *ret) {
    json_t *names = json_array();

    json_each(json_object_get(from, key), i, item)
        if (json_array_size(names) < most && is_plain(json_string_value(item)))
            json_array_append(names, item);
    json_object_set_new(ret, key, names);
}

/* Copies {count, first}, unless the count is zero or missing. */
static void copy_counted(const json_t *from, const char *key, json_t *ret) {
    const json_t *counted = json_object_get(from, key);
    _cleanup_json_ json_t *copied = json_object();

    if (!copy_number(counted, "count", copied) || !json_number_at(copied, "count", 0))
        return;
    copy_names(counted, "first", NAMES, copied);
    json_object_set(ret, key, copied);
}

static void copy_diag(const json_t *diag, json_t *ret) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
    static const char *const confidences[] = {"confirmed", "likely", NULL};
    _cleanup_json_ json_t *copied = json_object(), *causes = json_array();

    if (!copy_time(diag, copied) || !copy_number(diag, "passed", copied))
        return;
    (void)copy_number(diag, "flows", copied);
    (void)copy_number(diag, "flowsPassed", copied);
    copy_counted(diag, "failed", copied);
    copy_text(diag, "message", copied);
    json_each(json_object_get(diag, "causes"), i, cause) {
        _cleanup_json_ json_t *row = json_object();
        const char *id = json_text_at(cause, "id");

        copy_word(cause, "confidence", confidences, row);
        if (json_object_size(row) && is_plain(id) && strlen(id) <= 32 &&
            strspn(id, letters) == strlen(id) && json_array_size(causes) < CAUSES) {
            copy_text(cause, "id", row);
            json_array_append(causes, row);
        }
    }
    json_object_set(copied, "causes", causes);
    json_object_set(ret, "diag", copied);
}

int network_report_copy(const json_t *json, json_t **ret, struct error *err) {
    static const char *const dsr[] = {"on", "off", "mixed", NULL};
    const json_t *drift = json_object_get(json, "drift");
    long long version = json_number_at(json, "version", 0);
    _cleanup_json_ json_t *copied = json_pack("{s:i}", "version", VERSION);

    if (version > VERSION)
        return error_set(err, ERROR_MALFORMED, "it is of a newer winjoin");
    if (version != VERSION || !copy_time(json, copied))
        return error_set(err, ERROR_MALFORMED, "it has no version or no time");
    copy_text(json, "mode", copied);
    copy_text(json, "network", copied);
    (void)copy_number(json, "loadBalancers", copied);
    copy_word(json, "dsr", dsr, copied);
    if (json_is_object(drift)) {
        json_t *kinds = json_object();

        json_object_set_new(copied, "drift", kinds);
        for (size_t k = 0; k < DRIFT_KINDS; k++)
            copy_counted(drift, drift_kinds[k].key, kinds);
    }
    if (json_object_get(json, "unread"))
        copy_names(json, "unread", NAMES, copied);
    copy_diag(json_object_get(json, "diag"), copied);
    *ret = take_ptr(copied);
    return 0;
}

int network_report_read(const char *text, json_t **ret, struct error *err) {
    _cleanup_json_ json_t *json = NULL;

    if (strlen(text) > NETWORK_REPORT_MAX)
        return error_set(err, ERROR_MALFORMED, "it is longer than %d bytes", NETWORK_REPORT_MAX);
    if (json_read(text, strlen(text), "a report", &json, NULL) < 0)
        return error_set(err, ERROR_MALFORMED, "it is not JSON");
    return network_report_copy(json, ret, err);
}

/* ---- put the report into words ---- */

int64_t network_report_time(const json_t *report) {
    return rfc3339_seconds(json_text_at(report, "time"));
}

/* A report from the future is not fresh either, because its clock is wrong. */
bool network_report_is_fresh(const json_t *report, int64_t now) {
    return llabs(now - network_report_time(report)) <= NETWORK_REPORT_FRESH_SECONDS;
}

bool network_report_differs(const json_t *report) {
    return json_object_size(json_object_get(report, "drift")) != 0;
}

bool network_report_lacks(const json_t *report) {
    return json_at(report, "drift.servicesWithoutLoadBalancer") ||
           json_at(report, "drift.podsWithoutEndpoint");
}

long long network_report_count(const json_t *report) {
    long long count = 0;

    json_each_member(json_object_get(report, "drift"), kind, counted)
        count += json_number_at(counted, "count", 0);
    return count;
}

bool network_report_lacks_service(const json_t *report, const char *service) {
    json_each(json_at(report, "drift.servicesWithoutLoadBalancer.first"), i, name) {
        const char *text = json_string_value(name);

        if (text_starts_with(text, service) && text[strlen(service)] == ' ')
            return true;
    }
    return false;
}

/* Adds an age such as "4 min", "2 h" or "3 d". */
static void add_age(struct text *t, int64_t seconds) {
    long long minutes = seconds / 60;

    if (seconds < 0)
        text_addf(t, "%lld min ahead of this machine's clock", (long long)(-seconds + 59) / 60);
    else if (minutes < 120)
        text_addf(t, "%lld min", minutes);
    else if (minutes < 48LL * 60)
        text_addf(t, "%lld h", minutes / 60);
    else
        text_addf(t, "%lld d", minutes / 60 / 24);
}

static void add_counted(struct text *t, const json_t *counted, const char *what) {
    const json_t *first = json_object_get(counted, "first");
    long long count = json_number_at(counted, "count", 0);

    text_addf(t, "%lld %s", count, what);
    json_each(first, i, name)
        text_addf(t, "%s%s", i ? ", " : " (", json_string_value(name));
    if (json_array_size(first))
        text_add(t, (size_t)count > json_array_size(first) ? ", ...)" : ")");
}

char *network_report_drift(const json_t *report) {
    const json_t *drift = json_object_get(report, "drift");
    struct text t = {0};

    for (size_t k = 0; k < DRIFT_KINDS; k++) {
        const json_t *counted = json_object_get(drift, drift_kinds[k].key);

        if (!counted)
            continue;
        text_add(&t, t.len ? ", " : "");
        add_counted(&t, counted, drift_kinds[k].what);
    }
    return text_take(&t);
}

char *network_report_line(const json_t *report, int64_t now) {
    const json_t *diag = json_object_get(report, "diag"), *causes = json_object_get(diag, "causes");
    _cleanup_(freep) char *drift = network_report_drift(report);
    int64_t age = now - network_report_time(report);
    struct text t = {0};

    add_age(&t, age);
    text_add(&t, age < 0 ? ": " : " old: ");
    text_add(&t, drift);
    if (!json_object_get(report, "drift"))
        text_add(&t, "HNS was not compared with Kubernetes");
    else if (!*drift)
        text_add(&t, json_object_get(report, "unread") ? "nothing differs of what was read"
                                                       : "HNS has what Kubernetes has");
    json_each(json_object_get(report, "unread"), i, what)
        text_addf(&t, "%s%s", i ? ", " : "; not read: ", json_string_value(what));
    if (!diag)
        return text_take(&t);

    text_add(&t, "; winjoin diag there, ");
    age = now - rfc3339_seconds(json_text_at(diag, "time"));
    add_age(&t, age);
    text_add(&t, age < 0 ? ": " : " ago: ");
    json_each(causes, i, cause)
        text_addf(&t, "%s%s %s", i ? ", " : "", json_text_at(cause, "id"),
                  json_text_at(cause, "confidence"));
    text_add(&t, json_array_size(causes) ? ", " : "");
    if (json_object_get(diag, "failed"))
        add_counted(&t, json_object_get(diag, "failed"), "of its cells failed");
    else
        text_add(&t, json_number_at(diag, "passed", 0) ? "no cell failed" : "nothing was measured");
    return text_take(&t);
}
