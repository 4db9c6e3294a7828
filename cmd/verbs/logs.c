/* winjoin logs: prints winjoin's own logs and those of the services in the order of time. */
#include "base/nearest.h"
#include "base/redact.h"
#include "base/rfc3339.h"
#include "cmd/program.h"
#include "host/path.h"
#include "join/undo/journal.h"
#include "services/service_status.h"
#include "services/service_table.h"

#define OWN_NAME "winjoin"
enum { PART_MAX = 64 * 1024 * 1024, FOLLOW_MS = 300, NAME_WIDTH = 15 };

/* A log file and how much of it was read. */
struct source {
    const char *name; /* The name of the service; borrowed from the table. */
    char *path;
    uint64_t offset;
    /* The time of the file's last line that had one; lines without a time get it, too. */
    int64_t last_us;
};
struct line {
    const char *name;
    int64_t us;
    size_t order; /* Position in reading order, for lines with the same time. */
    char *text;
};
struct stream {
    struct program *program;
    struct host *host;
    const char *only; /* The one service to show, or NULL. */
    int64_t since_us;
    struct source *sources;
    size_t source_count;
    struct line *lines;
    size_t line_count;
    json_t *rows; /* The lines for -o json and yaml; NULL for text. */
};

/* ---- reading log files ---- */

/* Reads what was added since the last call, and of more than PART_MAX only the newest lines. A line
 * without its line end is left for the next call. */
static void read_source(struct stream *s, struct source *source) {
    _cleanup_(freep) char *part = NULL;
    const char *newline;
    uint64_t size = 0;
    size_t len = 0, begin = 0;
    bool cut; /* Older lines are left out. */

    if (host_read_part(s->host, source->path, 0, 0, &part, &len, &size, ERROR_IGNORED) < 0)
        return; /* A file that is gone has no new lines. */
    free(part);
    part = NULL;
    cut = size > source->offset + PART_MAX;
    if (cut)
        source->offset = size - PART_MAX;
    if (host_read_part(s->host, source->path, source->offset, PART_MAX, &part, &len, &size,
                       ERROR_IGNORED) < 0)
        return;
    if (cut) {
        if (!(newline = memchr(part, '\n', len)))
            return;
        begin = (size_t)(newline - part) + 1; /* The first line may not be whole. */
        source->offset += begin;
    }
    for (const char *at = part + begin, *end; (end = memchr(at, '\n', len - (size_t)(at - part)));
         at = end + 1) {
        size_t n = (size_t)(end - at);
        struct text shown = {0};
        int64_t us;

        source->offset += n + 1;
        while (n && (at[n - 1] == '\r' || at[n - 1] == ' '))
            n--;
        if (service_log_time(at, n, host_now(s->host), &us))
            source->last_us = us;
        if (!n || source->last_us < s->since_us)
            continue;
        text_add_escaped(&shown, at, n);
        redact_tokens(shown.data);
        s->lines = xrealloc(s->lines, (s->line_count + 1) * sizeof *s->lines);
        s->lines[s->line_count] =
            (struct line){source->name, source->last_us, s->line_count, shown.data};
        s->line_count++;
    }
}

/* Finds the log files of a folder, rotated ones included. */
static void find_sources(struct stream *s, const char *name, const char *folder) {
    _cleanup_(text_list_free) struct text_list files = {0};

    if (s->only && !text_equal_nocase(s->only, name))
        return;
    (void)host_list(s->host, folder, &files, ERROR_IGNORED);
    for (size_t i = 0; i < files.count; i++) {
        _cleanup_(freep) char *path = xasprintf("%s\\%s", folder, files.items[i]);

        bool known = !text_ends_with(path, ".log");

        for (size_t k = 0; k < s->source_count; k++)
            known = known || text_equal(s->sources[k].path, path);
        if (known)
            continue;
        array_add(s->sources, s->source_count,
                  (struct source){.name = name, .path = take_ptr(path)});
    }
}

static void find_all(struct stream *s) {
    find_sources(s, OWN_NAME, LOGS_FOLDER);
    for (const struct service *const *row = service_table; *row; row++)
        find_sources(s, (*row)->name, (*row)->log_folder);
}

/* ---- printing ---- */

static int by_time(const void *a, const void *b) {
    const struct line *x = a, *y = b;

    if (x->us != y->us)
        return x->us < y->us ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Prints the lines sorted by time: the last `tail` of them, or all when `tail` is 0. */
static void print_lines(struct stream *s, size_t tail) {
    if (s->line_count)
        qsort(s->lines, s->line_count, sizeof *s->lines, by_time);
    for (size_t i = 0; i < s->line_count; i++) {
        const struct line *line = &s->lines[i];
        bool shown = !tail || s->line_count - i <= tail;

        if (shown && s->rows)
            json_array_append_new(s->rows, json_pack("{s:s, s:s, s:s}", "time",
                                                     RFC3339_TEXT(line->us / 1000000), "service",
                                                     line->name, "line", line->text));
        else if (shown)
            output_format(s->program, "%-*s | %s\n", NAME_WIDTH, line->name, line->text);
        free(s->lines[i].text);
    }
    s->line_count = 0;
}

/* Follows the logs until Ctrl-C (the usual end, so no error) or until stdout is closed. */
static void follow(struct stream *s) {
    while (output_flush() && host_sleep(s->host, FOLLOW_MS, ERROR_IGNORED) == 0) {
        find_all(s);
        for (size_t i = 0; i < s->source_count; i++) {
            struct source *source = &s->sources[i], rest = *source;
            const char *dot = strchr(path_base(source->path), '.');
            _cleanup_(freep) char *nothing = NULL;
            uint64_t size = 0;
            size_t len;

            /* Rotated files, such as "kubelet.1.log", do not grow. */
            if (dot && dot[1] >= '0' && dot[1] <= '9')
                continue;
            (void)host_read_part(s->host, source->path, 0, 0, &nothing, &len, &size, ERROR_IGNORED);
            /* A file that is shorter than the part that was read before has been rotated. The rest
             * of the old file is now in NAME.1.log. */
            if (size < source->offset) {
                rest.path = xasprintf("%.*s.1.log", (int)(strlen(source->path) - strlen(".log")),
                                      source->path);
                read_source(s, &rest);
                free(rest.path);
                source->last_us = rest.last_us;
                source->offset = 0;
            }
            read_source(s, source);
        }
        print_lines(s, 0);
    }
}

/* ---- reading the command line ---- */

static int check_name(const char *name, struct error *err) {
    _cleanup_(text_list_free) struct text_list names = {0};
    _cleanup_(freep) char *all = NULL;
    const char *near;

    text_list_add(&names, OWN_NAME);
    for (const struct service *const *row = service_table; *row; row++)
        text_list_add(&names, (*row)->name);
    for (size_t i = 0; i < names.count; i++)
        if (text_equal_nocase(names.items[i], name))
            return 0;
    all = text_list_join(&names, ", ");
    near = nearest_name(name, (const char *const *)names.items, names.count);
    (void)error_set(err, ERROR_USAGE, "show the logs of \"%.60s\": no such service", name);
    if (near)
        (void)error_hint(err, "did you mean %s?", near);
    return error_hint(err, "services with logs: %s", all);
}

int verb_logs(struct program *program, struct error *err) {
    struct stream s = {.program = program,
                       .host = program->host,
                       .since_us = INT64_MIN,
                       .only = program->words.count ? program->words.items[0] : NULL};
    const char *since = program->options.since;
    int64_t ms;

    if (s.only && check_name(s.only, err) < 0)
        return -1;
    if (since && go_duration_parse(since, &ms, err) < 0) {
        (void)error_set(err, ERROR_USAGE, "invalid value \"%.40s\" for --since: not a duration",
                        since);
        return error_hint(err, "as 30s, 10m or 2h");
    }
    if (since)
        s.since_us = (host_now(s.host) * 1000 - ms) * 1000;
    if (output_is_document(program) && program->options.follow)
        return error_set(err, ERROR_USAGE, "--follow works with -o text only");
    if (output_is_document(program))
        s.rows = json_array();
    find_all(&s);
    for (size_t i = 0; i < s.source_count; i++)
        read_source(&s, &s.sources[i]);
    if (!s.line_count && !s.rows && !program->options.follow)
        output_warning("%s", since ? "no log has a line of that time"
                                   : "there are no logs on this machine");
    print_lines(&s, (size_t)program->options.tail);
    if (program->options.follow)
        follow(&s);
    if (s.rows)
        output_result(program,
                      json_pack("{s:s, s:s, s:o}", JSON_DOCUMENT("Logs"), "lines", s.rows));
    for (size_t i = 0; i < s.source_count; i++)
        free(s.sources[i].path);
    free_all(s.sources, s.lines);
    return 0;
}
