/* winjoin diag: measure the pod flows, say which fail and why. */
#include "cmd/output.h"
#include "cmd/program.h"
#include "cmd/progress.h"
#include "cmd/record.h"
#include "cmd/verbs/diag_shown.h"
#include "diag/capture.h"
#include "diag/causes/causes.h"
#include "diag/cluster/cluster.h"
#include "diag/collection/collection.h"
#include "diag/reports/compare.h"
#include "join/kubelet/kubelet_files.h"
#include "join/run.h"
#include "netsetup/boot_network.h"

static void print_report(struct program *program, const struct diag_report *report,
                         const json_t *compared) {
    const char *format = program->options.output;
    struct diag_text_style style = diag_style(program);

    diag_print(program,
               text_equal(format, "junit")     ? diag_report_junit(report)
               : text_equal(format, "html")    ? diag_report_html(report)
               : text_equal(format, "metrics") ? diag_report_metrics(report)
                                               : diag_report_text(report, &style),
               output_is_document(program) ? diag_report_json(report) : NULL, compared);
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
    return diag_judge_changes(compared, err);
}

/* The report of --compare, judged. */
static int read_old(struct program *program, struct diag_report *ret, struct error *err) {
    const char *given = program->options.compare;
    _cleanup_(freep) char *text = NULL;
    size_t len;

    if (diag_file_read(program, "--compare", given, &text, &len, err) < 0)
        return -1;
    if (diag_report_read(text, len, NODE_REPORT_KIND, ret, err) < 0)
        return diag_file_refuse("--compare", given, err);
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
    if (diag_report_read(text, len, NULL, &report, err) < 0)
        return diag_file_refuse("--replay", given, err);
    if (report.server)
        return diag_cluster_replay(program, text, len, err);
    if (program->options.compare && read_old(program, &old, err) < 0)
        return -1;
    diag_causes_find(&report);
    return finish(program, &report, program->options.compare ? &old : NULL, err);
}

static void print_capture(const struct program *program, const json_t *capture) {
    const char *flow = json_text_at(capture, "flow"), *why = json_text_at(capture, "error");
    struct text t = {0};

    if (!capture || !diag_is_text(program))
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
    record_end(program, "diag", join.found.node_name, result, err);
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
    if (!diag_is_text(watch->program)) {
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
        record_end(program, "diag", join.found.node_name, result, err);
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

/* ---- the call ---- */

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
