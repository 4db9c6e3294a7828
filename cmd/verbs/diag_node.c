/* winjoin diag on a node: runs the join phase "verify" once more. */
#include "cmd/program.h"
#include "cmd/verbs/diag.h"
#include "diag/capture.h"
#include "diag/causes/causes.h"
#include "diag/collection/collection.h"
#include "join/kubelet/kubelet_files.h"
#include "join/run.h"
#include "node/chosen.h"

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

/* Shows progress. Later tests of --watch show only the wait line of a terminal, because a line at
 * the end of each test would be no news. */
static void show(void *context, const struct join_event *event) {
    struct diagnosis *d = context;

    if (!d->begun || d->progress.mode == PROGRESS_JSON ||
        (d->progress.mode == PROGRESS_LIVE &&
         (event->state == JOIN_BEGIN || event->state == JOIN_WAITING)))
        progress_show(&d->progress, event);
}

static void show_table(void *context, const struct text_list *lines) {
    struct diagnosis *d = context;

    progress_table(&d->progress, lines);
}

static int open(struct diagnosis *d, struct error *err) {
    struct program *program = d->program;

    (void)err;
    d->join = (struct join){.host = program->host,
                            .http = program->http,
                            .asked = &program->options.join,
                            .progress.listener = show,
                            .progress.table = show_table,
                            .progress.context = d};
    (void)terminal_probe_program(&d->join.probe_program, &d->join.probe_program_len);
    progress_open(&d->progress, program);
    if (!d->begun)
        record_open(program, "diag", &d->join.journal);
    return 0;
}

static int ask(struct diagnosis *d, struct error *err) {
    int result = join_open(&d->join, err) < 0 ? -1 : join_run_phase(&d->join, "verify", err);

    d->report = take_struct(d->join.found.report);
    return result;
}

static int pack(struct diagnosis *d, const char *failure, char **ret, size_t *ret_len,
                struct error *err) {
    static const char *const places[] = {KUBELET_CONFIG_FILE,
                                         KUBELET_INSTANCE_CONFIG_FILE,
                                         KUBELET_FLAGS_FILE,
                                         CHOSEN_FILE,
                                         CHOSEN_ROUTES_FILE,
                                         JOURNAL_FILE,
                                         LOGS_FOLDER,
                                         REPORTS_FOLDER,
                                         NULL};
    const struct diag_collect_options options = {.failure = failure, .places = places};

    return diag_collect(d->program->host, &d->report, &options, ret, ret_len, err);
}

/* Ends a test. The first one leaves its log and report on the node. */
static void end(struct diagnosis *d, int result, const struct error *err) {
    struct program *program = d->program;

    /* A captured file is now in the .zip, or is not needed. */
    if (program->options.join.verify_capture)
        (void)host_remove(program->host, DIAG_CAPTURE_FILE, NULL);
    if (!d->begun)
        record_end(program, "diag", d->join.found.node_name, result, err);
    if (program->options.watch)
        record_free(program); /* A record would grow without limit during --watch. */
    join_close(&d->join);
    progress_close(&d->progress);
}

const struct diag_operations diag_of_node = {.kind = NODE_REPORT_KIND,
                                             .collected = HOST_SECRET,
                                             .find_causes = diag_causes_find,
                                             .judge = judge,
                                             .open = open,
                                             .ask = ask,
                                             .pack = pack,
                                             .end = end};
