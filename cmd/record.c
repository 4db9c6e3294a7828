/* Keeps what a run of winjoin leaves on its node: a log, a report and an event log entry. */
#include "cmd/program.h"

#include "base/redact.h"
#include "base/rfc3339.h"
#include "join/phases/phases.h"

enum {
    STAMP = sizeof "20261122-101502" - 1,
    WRITE_AGAIN_MS = 10000,
    REPORT_MAX = 16 * 1024 * 1024
};

struct record {
    const char *kind;
    const struct journal *journal;
    bool begun;
    char *log, *report; /* Paths of the log file and of the report file. */
    const char *phase;  /* Id of the running phase, or NULL. */
    struct text lines;
    size_t written;
    uint64_t written_ms;
    bool failed; /* The warning that the log cannot be written was printed. */
};

/* ---- names of logs and reports ---- */

/* Lists the files of that kind, oldest first. */
static void list(struct host *host, const char *folder, const char *kind, const char *ending,
                 struct text_list *ret) {
    _cleanup_(text_list_free) struct text_list all = {0};

    (void)host_list(host, folder, &all, ERROR_IGNORED); /* A missing folder means no files. */
    for (size_t i = 0; i < all.count; i++) {
        size_t len = strlen(kind);

        if (text_starts_with(all.items[i], kind) && all.items[i][len] == '-' &&
            text_ends_with(all.items[i], ending) &&
            strlen(all.items[i]) == len + 1 + STAMP + strlen(ending) &&
            strspn(all.items[i] + len + 1, "0123456789-") == STAMP)
            text_list_add(ret, all.items[i]);
    }
}

/* ---- writing the log ---- */

char *record_prefix(struct host *host, enum log_level level) {
    return xasprintf("%s %-5s ", RFC3339_TEXT(host_now(host)),
                     level == LOG_WARNING ? "WARN"
                     : level == LOG_INFO  ? "INFO"
                                          : "DEBUG");
}

void record_open(struct program *program, const char *kind, const struct journal *journal) {
    struct record *record = xcalloc(1, sizeof *record);
    char text[RFC3339_TEXT_MAX];
    int64_t time = host_now(program->host);

    *record = (struct record){.kind = kind, .journal = journal};
    for (;; time++) { /* Another run may have started in the same second. */
        _cleanup_(freep) char *name = NULL;

        rfc3339_format(time, text); /* The time as text, such as 2026-11-22T10:15:02Z. */
        name = xasprintf("%s-%.4s%.2s%.2s-%.2s%.2s%.2s", kind, text, text + 5, text + 8, text + 11,
                         text + 14, text + 17);
        record->log = xasprintf("%s\\%s.log", LOGS_FOLDER, name);
        record->report = xasprintf("%s\\%s.json", REPORTS_FOLDER, name);
        if (host_file_type(program->host, record->log) == HOST_ABSENT)
            break;
        freep(&record->log);
        freep(&record->report);
    }
    record_free(program);
    program->kept_log = NULL;
    program->record = record;
}

static int write_file(struct host *host, const char *folder, const char *path, const char *text,
                      struct error *err) {
    if (host_make_folder(host, WINJOIN_FOLDER, HOST_SECRET, err) < 0 ||
        host_make_folder(host, folder, HOST_SECRET, err) < 0)
        return -1;
    return host_write(host, path, text, strlen(text), HOST_SECRET, err);
}

static void write_log(struct program *program) {
    struct record *record = program->record;
    struct error why = {0};

    record->begun |= record->journal && record->journal->count;
    if (!record->begun || record->written == record->lines.len || record->failed)
        return;
    if (write_file(program->host, LOGS_FOLDER, record->log, text_str(&record->lines), &why) < 0) {
        record->failed = true;
        if (why.kind != ERROR_INTERRUPTED)
            output_warning("%s", why.message);
    }
    record->written = record->lines.len;
    record->written_ms = host_monotonic_ms(program->host);
}

void record_begun(struct program *program) {
    if (program->record)
        program->record->begun = true;
}

void record_line(struct program *program, enum log_level level, const char *line) {
    struct record *record = program->record;
    _cleanup_(freep) char *prefix = NULL, *shown = NULL;

    if (!record || level > LOG_REQUEST)
        return;
    prefix = record_prefix(program->host, level);
    shown = join_shown(line);
    text_addf(&record->lines, "%s%s%s%s\n", prefix, record->phase ? record->phase : "",
              record->phase ? ": " : "", shown);
}

void record_event(struct program *program, const struct join_event *event) {
    static const char *const states[] = {"started", "waiting: ", "",
                                         "done: ",  "skipped: ", "failed: "};
    struct record *record = program->record;
    _cleanup_(freep) char *line = NULL;
    bool is_wait = event->state == JOIN_WAITING;

    if (!record)
        return;
    if (event->phase)
        record->phase = event->phase->id;
    if (is_wait && host_monotonic_ms(program->host) - record->written_ms < WRITE_AGAIN_MS)
        return;
    line = xasprintf("%s%s%s%s", states[event->state], event->message, *event->hint ? "; " : "",
                     event->hint);
    record_line(
        program,
        event->state == JOIN_WARNING || event->state == JOIN_FAILED ? LOG_WARNING : LOG_INFO, line);
    write_log(program);
}

/* ---- the end of a run ---- */

static void close_record(struct program *program, int result, const struct error *err) {
    static const struct {
        const char *folder, *ending;
    } kept[] = {{LOGS_FOLDER, ".log"}, {REPORTS_FOLDER, ".json"}};
    struct record *record = program->record;
    _cleanup_json_ json_t *report = NULL;
    _cleanup_(freep) char *text = NULL;
    struct error why = {0};

    if (!record)
        return;
    record->phase = NULL;
    record_line(program, result < 0 ? LOG_WARNING : LOG_INFO, result < 0 ? err->message : "done");
    for (size_t i = 0; result < 0 && i < ERROR_HINTS_MAX && err->hints[i][0]; i++)
        record_line(program, LOG_INFO, err->hints[i]);
    write_log(program);
    if (!record->begun || record->failed)
        return;
    report = program->result ? json_copy(program->result) : json_object();
    json_object_set_new(report, "time", json_string(RFC3339_TEXT(host_now(program->host))));
    json_object_set_new(report, "exitCode",
                        json_integer(result < 0 ? error_exit_code(err->kind) : 0));
    json_object_set_new(report, "log", json_string(program->record->log));
    if (result < 0)
        json_object_set_new(report, "error",
                            json_pack("{s:s, s:s, s:s*}", "kind", error_kind_name(err->kind),
                                      "message", err->message, "phase", program->phase));
    text = json_write_pretty(report);
    redact_tokens(text);
    if (write_file(program->host, REPORTS_FOLDER, record->report, text, &why) < 0)
        output_warning("%s", why.message);
    for (size_t k = 0; k < ARRAY_SIZE(kept); k++) {
        _cleanup_(text_list_free) struct text_list files = {0};

        list(program->host, kept[k].folder, record->kind, kept[k].ending, &files);
        for (size_t i = 0; i + RECORDS_KEPT < files.count; i++) {
            _cleanup_(freep) char *path = xasprintf("%s\\%s", kept[k].folder, files.items[i]);

            /* A file that is open fails here; the next run removes it. */
            (void)host_remove(program->host, path, ERROR_IGNORED);
        }
    }
    if (result < 0)
        program->kept_log = record->log;
}

void record_end(struct program *program, const char *what, const char *node, int result,
                const struct error *err) {
    unsigned code = result < 0 ? (unsigned)error_exit_code(err->kind) : 0;
    char level = result == 0 ? 'i' : err->kind == ERROR_FLOWS ? 'w' : 'e';
    _cleanup_(freep) char *text = xasprintf("winjoin %s%s%s: %s", what, node ? " " : "",
                                            node ? node : "", result < 0 ? err->message : "done");

    close_record(program, result, err);
    (void)host_event(program->host, level, EVENT_ID_BASE + code, text, ERROR_IGNORED);
}

void record_free(struct program *program) {
    struct record *record = program->record;

    if (!record)
        return;
    free(record->log);
    free(record->report);
    text_free(&record->lines);
    free(record);
    program->record = NULL;
}

/* ---- reading logs and reports ---- */

/* Reads the newest readable report of that kind that began after `since`. ret_stamp gets its time,
 * such as "20261122-101502". */
static json_t *last_since(struct host *host, const char *kind, const char *since, char *ret_stamp) {
    _cleanup_(text_list_free) struct text_list files = {0};

    list(host, REPORTS_FOLDER, kind, ".json", &files);
    for (size_t i = files.count; i-- > 0;) {
        _cleanup_(freep) char *path = xasprintf("%s\\%s", REPORTS_FOLDER, files.items[i]);
        const char *stamp = files.items[i] + strlen(kind) + 1;
        json_t *report;

        if (strncmp(stamp, since, STAMP) < 0)
            return NULL;
        if (host_read_json(host, path, REPORT_MAX, &report, ERROR_IGNORED) == 0) {
            json_object_set_new(report, "report", json_string(path));
            if (ret_stamp)
                memcpy(ret_stamp, stamp, STAMP);
            return report;
        }
    }
    return NULL;
}

/* Gets the time of the last reset, or "" when it failed or no report of one exists. */
static void last_reset(struct host *host, char ret[STAMP + 1]) {
    _cleanup_json_ json_t *reset = NULL;

    memset(ret, 0, STAMP + 1);
    reset = last_since(host, "reset", "", ret);
    if (json_number_at(reset, "exitCode", 1))
        *ret = '\0';
}

json_t *record_last(struct host *host, const char *kind) {
    char reset[STAMP + 1];

    last_reset(host, reset);
    return last_since(host, kind, reset, NULL);
}

char *record_unfinished(struct host *host, const char *kind) {
    _cleanup_(text_list_free) struct text_list logs = {0}, reports = {0};
    const char *log, *report;
    char reset[STAMP + 1];

    last_reset(host, reset);
    list(host, LOGS_FOLDER, kind, ".log", &logs);
    list(host, REPORTS_FOLDER, kind, ".json", &reports);
    if (!logs.count)
        return NULL;
    log = logs.items[logs.count - 1];
    report = reports.count ? reports.items[reports.count - 1] : "";
    if (strncmp(log, report, strlen(kind) + 1 + STAMP) <= 0 ||
        strncmp(log + strlen(kind) + 1, reset, STAMP) < 0)
        return NULL;
    return xstrdup(log);
}
