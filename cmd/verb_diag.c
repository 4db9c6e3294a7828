/* winjoin diag and probe: measure the pod flows, say which fail and why. */

#include "base/memory.h"
#include "base/rfc3339.h"
#include "cmd/event.h"
#include "cmd/output.h"
#include "cmd/progress.h"
#include "cmd/record.h"
#include "cmd/program.h"
#include "diag/capture.h"
#include "diag/causes/causes.h"
#include "diag/cluster/cluster.h"
#include "diag/collection/collection.h"
#include "diag/reports/compare.h"
#include "diag/reports/report.h"
#include "host/path.h"
#include "join/kubelet/kubelet_files.h"
#include "join/run.h"
#include "netsetup/boot_network.h"

enum { REPLAY_MAX = 64 * 1024 * 1024 };

static bool is_text(const struct program *program) {
    return !program->options.output || text_equal(program->options.output, "text");
}

/* `compared` (or NULL) is part of the document and of the text. */
static void print_report(struct program *program, const struct diag_report *report,
                         const json_t *compared) {
    struct diag_text_style style = {output_utf8(program, false), output_color(program, false),
                                    program->terminal.out_is_terminal ? program->terminal.columns
                                                                      : 0};
    const char *format = program->options.output;
    _cleanup_(freep) char *text = text_equal(format, "junit")  ? diag_report_junit(report)
                                  : text_equal(format, "html") ? diag_report_html(report)
                                  : text_equal(format, "metrics")
                                      ? diag_report_metrics(report)
                                      : diag_report_text(report, &style);

    output_text(program, text);
    if (compared && is_text(program)) {
        _cleanup_(freep) char *changes = diag_compare_text(compared);

        output_text(program, changes);
    }
    if (output_is_document(program)) {
        json_t *json = diag_report_json(report);

        if (compared)
            json_object_set(json, "changes", (json_t *)compared);
        output_result(program, json);
    }
}

static int judge(const struct diag_report *report, struct error *err) {
    _cleanup_(freep) char *line = diag_report_line(report);
    bool good = diag_report_is_good(report);

    if (good && !report->causes.count)
        return 0;
    (void)error_set(err, ERROR_FLOWS, "test the pod network: %s%s%s",
                    report->probes ? line : "nothing was measured", good ? ", but " : "",
                    good ? report->causes.items[0].message : "");
    for (size_t i = 0; i < report->causes.count && i < 3; i++)
        (void)error_hint(err, "%s: %s", report->causes.items[i].id, report->causes.items[i].hint);
    return -1;
}

/* Prints the report and tells how it ended: with an older one, whether it is worse now. */
static int finish(struct program *program, const struct diag_report *report,
                  const struct diag_report *old, struct error *err) {
    _cleanup_json_ json_t *compared = old ? diag_report_compare(old, report) : NULL;

    print_report(program, report, compared);
    if (!compared)
        return judge(report, err);
    error_clear(err);
    return json_is_true(json_object_get(compared, "worse"))
               ? error_set(err, ERROR_FLOWS, "compare with %s: it is worse",
                           json_text_at(compared, "since"))
               : 0;
}

static int read_file(struct host *host, const char *path, char **ret, size_t *ret_len,
                     struct error *err) {
    _cleanup_(freep) char *file = NULL;
    size_t len;

    if (host_read(host, path, REPLAY_MAX, &file, &len, err) < 0)
        return -1;
    return diag_is_collection(file, len)
               ? diag_collection_report(file, len, REPLAY_MAX, ret, ret_len, err)
               : host_read_text(host, path, REPLAY_MAX, ret, ret_len, err);
}

int diag_file_read(struct program *program, const char *flag, const char *given, char **ret,
                   size_t *ret_len, struct error *err) {
    _cleanup_(freep) char *path = terminal_full_path(given);

    if (read_file(program->host, path, ret, ret_len, err) == 0)
        return 0;
    err->kind = ERROR_USAGE; /* the file that was named, not this machine */
    return error_prefix(err, "%s %s", flag, given);
}

/* The report of --compare, judged. */
static int read_old(struct program *program, struct diag_report *ret, struct error *err) {
    const char *given = program->options.compare;
    _cleanup_(freep) char *text = NULL;
    size_t len;

    if (diag_file_read(program, "--compare", given, &text, &len, err) < 0)
        return -1;
    if (diag_report_read(text, len, ret, err) < 0) {
        err->kind = ERROR_USAGE;
        return error_prefix(err, "--compare %s", given);
    }
    diag_causes_find(ret);
    return 0;
}

static int replay(struct program *program, struct error *err) {
    _cleanup_(diag_report_free) struct diag_report report = {0}, old = {0};
    const char *given = program->options.replay;
    _cleanup_(freep) char *text = NULL;
    size_t len;

    if (diag_file_read(program, "--replay", given, &text, &len, err) < 0)
        return -1;
    if (cluster_report_is(text, len))
        return diag_cluster_replay(program, text, len, err);
    if (diag_report_read(text, len, &report, err) < 0) {
        err->kind = ERROR_USAGE;
        return error_prefix(err, "--replay %s", given);
    }
    if (program->options.compare && read_old(program, &old, err) < 0)
        return -1;
    diag_causes_find(&report);
    return finish(program, &report, program->options.compare ? &old : NULL, err);
}

int diag_file_write(struct program *program, const char *path, const char *data, size_t len,
                    struct error *err) {
    _cleanup_(freep) char *shown = path_shown(path), *line = NULL;

    if (host_write(program->host, path, data, len, HOST_PUBLIC, err) < 0)
        return error_prefix(err, "--collect");
    line = xasprintf("the evidence is in %s (%zu KiB)\n", shown, (len + 1023) / 1024);
    if (is_text(program))
        output_text(program, line);
    return 0;
}

static void print_capture(const struct program *program, const json_t *capture) {
    const char *flow = json_text_at(capture, "flow"), *why = json_text_at(capture, "error");
    struct text t = {0};

    if (!capture || !is_text(program))
        return;
    text_addf(&t, "packets of %s%s%s\n", flow, why ? " were not captured: " : " were captured",
              why ? why : "");
    if (!why && !json_array_size(json_object_get(capture, "drops")))
        text_add(&t, "  Windows dropped none meanwhile\n");
    json_each(json_object_get(capture, "drops"), i, drop) {
        long long packets = json_number_at(drop, "packets", 0);

        text_addf(&t, "  dropped: %s (%lld packet%s, %lld of this flow)\n",
                  json_text_at(drop, "reason"), packets, PLURAL(packets),
                  json_number_at(drop, "ofThisFlow", 0));
    }
    output_text(program, text_str(&t));
    text_free(&t);
}

/* The evidence in a .zip, whatever became of the diagnosis (its error: `why`). */
static int collect(struct program *program, const char *path, struct diag_report *report,
                   const struct error *why, struct error *err) {
    static const char *const places[] = {KUBELET_CONFIG_FILE,
                                         KUBELET_INSTANCE_CONFIG_FILE,
                                         KUBELET_FLAGS_FILE,
                                         BOOT_NETWORK_FILE,
                                         BOOT_ROUTES_FILE,
                                         JOURNAL_FILE,
                                         LOGS_FOLDER,
                                         REPORTS_FOLDER,
                                         NULL};
    const struct diag_collect_options options = {
        .failure = report->cells.count ? NULL : why->message, .places = places};
    _cleanup_(freep) char *data = NULL;
    size_t len;

    if (diag_collect(program->host, report, &options, &data, &len, err) < 0)
        return error_prefix(err, "--collect");
    print_capture(program, json_object_get(report->evidence, "capture"));
    return diag_file_write(program, path, data, len, err);
}

/* The targets outside come from flags first, then from the cluster's defaults. */
static void take_targets(struct program_options *o) {
    o->join.external_ip = take_ptr(o->external_ip);
    o->join.external_name = take_ptr(o->external_name);
    o->join.external_dns = take_ptr(o->external_dns);
    o->join.verify_attempts = o->count;
}

/* The report is in the join's `found`, with cells if anything was measured. */
static int ask(struct program *program, struct join *ret, struct error *err) {
    ret->host = program->host;
    ret->http = program->http;
    ret->asked = &program->options.join;
    (void)terminal_probe_program(&ret->probe_program, &ret->probe_program_len);
    return join_open(ret, err) < 0 ? -1 : join_run_phase(ret, "verify", err);
}

static void show_table(void *context, const struct text_list *lines) {
    progress_table(context, lines);
}

/* `zip`: where the evidence goes, or NULL; `old`: what is compared with, or NULL. */
static int measure(struct program *program, const char *zip, const struct diag_report *old,
                   struct error *err) {
    struct progress progress;
    struct join join = {.progress.listener = progress_show,
                        .progress.table = show_table,
                        .progress.context = &progress};
    struct error why = {0};
    int result;

    progress_open(&progress, program);
    record_open(program, "diag", &join.journal);
    result = ask(program, &join, err);
    if (join.found.report.cells.count)
        result = finish(program, &join.found.report, old, err);
    if (zip && err->kind != ERROR_INTERRUPTED &&
        collect(program, zip, &join.found.report, err, &why) < 0) {
        *err = why;
        result = -1;
    }
    if (program->options.join.verify_capture) /* packed, or of no use */
        (void)host_remove(program->host, DIAG_CAPTURE_FILE, NULL);
    event_write(program, "diag", join.found.node_name, result, err);
    join_close(&join);
    progress_close(&progress);
    return result;
}

/* ---- again and again ---- */

struct watch {
    struct program *program;
    struct progress progress;
    struct diag_report *last; /* what was measured last, or --compare's; empty: nothing yet */
    bool begun;
    char failure[ERROR_MESSAGE_MAX]; /* why the last test could not be made; "" = it was */
};

/* Only what is waited for, on a terminal: each end of a test would be a line without news. */
static void show_wait(void *context, const struct join_event *event) {
    struct watch *watch = context;

    if (watch->progress.mode == PROGRESS_JSON || !watch->begun ||
        (watch->progress.mode == PROGRESS_LIVE &&
         (event->state == JOIN_BEGIN || event->state == JOIN_WAITING)))
        progress_show(&watch->progress, event);
}

static void show_watch_table(void *context, const struct text_list *lines) {
    struct watch *watch = context;

    progress_table(&watch->progress, lines);
}

static void tell_changes(struct watch *watch, const struct diag_report *report) {
    _cleanup_json_ json_t *compared = diag_report_compare(watch->last, report);

    if (!*watch->failure && watch->begun && !diag_compare_changed(compared))
        return;
    if (!is_text(watch->program)) {
        _cleanup_json_ json_t *whole = diag_report_json(report);
        _cleanup_json_ json_t *line =
            diag_watch_json(compared, whole, diag_report_is_good(report) && !report->causes.count);

        output_line(line);
    } else if (!watch->begun && !watch->last->cells.count) {
        print_report(watch->program, report, NULL);
    } else {
        _cleanup_(freep) char *how = diag_report_line(report);
        _cleanup_(freep) char *text = diag_watch_text(compared, report->time, how, &report->causes);

        output_text(watch->program, text);
    }
}

void diag_tell_failure(struct program *program, char *told, size_t size, const struct error *why) {
    char time[RFC3339_TEXT_MAX];
    _cleanup_json_ json_t *line = NULL;
    _cleanup_(freep) char *text = NULL;

    if (text_equal(told, why->message))
        return;
    text_format(told, size, "%s", why->message);
    rfc3339_format(host_now(program->host), time);
    text = xasprintf("%s  not measured: %s\n", time, why->message);
    line = json_pack("{s:s, s:{s:s, s:s}}", "time", time, "error", "kind",
                     error_kind_name(why->kind), "message", why->message);
    output_text(program, text);
    if (!is_text(program))
        output_line(line);
}

/* The first test leaves its log and report on the node, and fails as diag does. */
static int watch_once(void *context, struct error *err) {
    struct watch *watch = context;
    struct program *program = watch->program;
    struct join join = {.progress.listener = show_wait,
                        .progress.table = show_watch_table,
                        .progress.context = watch};
    struct diag_report *report = &join.found.report;
    int result;

    progress_open(&watch->progress, program);
    if (!watch->begun)
        record_open(program, "diag", &join.journal);
    result = ask(program, &join, err);
    progress_close(&watch->progress);
    if (!watch->begun)
        event_write(program, "diag", join.found.node_name, result, err);
    record_free(program); /* it would grow */
    if (report->cells.count && err->kind != ERROR_INTERRUPTED) {
        tell_changes(watch, report);
        watch->begun = true;
        watch->failure[0] = '\0';
        diag_report_free(watch->last);
        *watch->last = *report;
        *report = (struct diag_report){0};
        result = 0;
    } else if (watch->begun && err->kind != ERROR_INTERRUPTED) {
        diag_tell_failure(program, watch->failure, sizeof watch->failure, err);
        result = 0;
    }
    join_close(&join);
    return result;
}

int diag_repeat(struct program *program, int (*once)(void *context, struct error *err),
                void *context, struct error *err) {
    int result;

    do {
        error_clear(err);
        result = once(context, err);
    } while (result == 0 && output_flush() &&
             host_sleep(program->host, (unsigned)program->options.watch, err) == 0);
    if (err->kind && err->kind != ERROR_INTERRUPTED)
        return -1;
    error_clear(err);
    return 0;
}

/* ---- the call ---- */

int diag_check_watch(const struct program *program, struct error *err) {
    const struct program_options *o = &program->options;
    const char *other = o->replay        ? "replay"
                        : o->collect     ? "collect"
                        : o->output_file ? "output-file"
                                         : NULL;

    if (other)
        return error_set(err, ERROR_USAGE, "use either --watch or --%s", other);
    if (!is_text(program) && !text_equal(o->output, "json"))
        return error_set(err, ERROR_USAGE,
                         "use -o text or -o json (an object a line) with --watch");
    return 0;
}

int verb_diag(struct program *program, struct error *err) {
    const struct program_options *o = &program->options;
    _cleanup_(diag_report_free) struct diag_report report = {0};
    const struct diag_report *old = o->compare ? &report : NULL;
    _cleanup_(freep) char *zip = NULL;

    if (o->count > PROBE_ATTEMPTS_MAX)
        return error_set(err, ERROR_USAGE, "invalid value \"%lld\" for --count: at most %d",
                         o->count, PROBE_ATTEMPTS_MAX);
    if (diag_asks_for_cluster(program))
        return diag_cluster(program, err);
    if (o->watch && diag_check_watch(program, err) < 0)
        return -1;
    if (o->join.verify_capture && !o->collect)
        return error_set(err, ERROR_USAGE,
                         "use --capture with --collect FILE: the packets go into that file");
    if (o->collect && o->replay)
        return error_set(err, ERROR_USAGE, "use either --collect or --replay");
    if (o->collect && output_path(program, "--collect", o->collect, &zip, err) < 0)
        return -1;
    if (o->replay)
        return replay(program, err);
    if (old && read_old(program, &report, err) < 0)
        return -1;
    take_targets(&program->options);
    return o->watch ? diag_repeat(program, watch_once,
                                  &(struct watch){.program = program, .last = &report}, err)
                    : measure(program, zip, old, err);
}
