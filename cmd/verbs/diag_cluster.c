/* winjoin diag --kubeconfig: a whole cluster, from any machine that reaches its API server. */
#include "cmd/output.h"
#include "cmd/program.h"
#include "cmd/progress.h"
#include "cmd/verbs/diag_shown.h"
#include "cmd/verbs/given_cluster.h"
#include "diag/cluster/causes/causes.h"
#include "diag/reports/compare.h"
#include "join/phases/phases.h"

enum { PATIENCE_MS = 15000 };

bool diag_asks_for_cluster(const struct program *program) {
    const struct program_options *o = &program->options;

    return o->kubeconfig || o->context || o->node_selector || o->image || o->nodes.count;
}

/* Where kubectl looks without a flag. */
static char *default_path(struct program *program, struct error *err) {
    _cleanup_(freep) char *named = host_environment(program->host, "KUBECONFIG");
    _cleanup_(freep) char *home = host_environment(program->host, "HOME");

    if (named && *named) {
        if (strpbrk(named[1] == ':' ? named + 2 : named, ":;")) { /* behind a drive's letter */
            (void)error_set(err, ERROR_UNSUPPORTED,
                            "KUBECONFIG names several files, which are not merged");
            (void)error_hint(err, "use --kubeconfig FILE");
            return NULL;
        }
        return take_ptr(named);
    }
    if (!home)
        home = host_environment(program->host, "USERPROFILE");
    if (!home) {
        (void)error_set(err, ERROR_USAGE, "the cluster's kubeconfig is missing");
        (void)error_hint(err, "use --kubeconfig FILE");
        return NULL;
    }
    return xasprintf("%s/.kube/config", home);
}

static int open_cluster(struct program *program, struct kube_client *ret, struct error *err) {
    bool given = program->options.kubeconfig;
    _cleanup_(freep) char *path = given ? NULL : default_path(program, err);

    return given || path ? given_cluster_open(program, path, ret, err) : -1;
}

static void show(void *context, unsigned waited_ms, unsigned left_ms, const char *message) {
    static const struct join_phase phase = {.id = "cluster", .title = "cluster"};

    progress_show(context, &(struct join_event){.state = JOIN_WAITING,
                                                .phase = &phase,
                                                .message = message,
                                                .hint = "",
                                                .waited_ms = waited_ms,
                                                .left_ms = left_ms});
}

static void show_cells(void *context, const struct cluster_report *report) {
    _cleanup_(text_list_free) struct text_list lines = {0};

    cluster_report_progress(report, &lines);
    progress_table(context, &lines);
}

static void print_report(struct program *program, const struct cluster_report *report,
                         const json_t *compared) {
    const char *format = program->options.output;
    struct diag_text_style style = diag_style(program);

    diag_print(program,
               text_equal(format, "junit")     ? cluster_report_junit(report)
               : text_equal(format, "html")    ? cluster_report_html(report)
               : text_equal(format, "metrics") ? cluster_report_metrics(report)
                                               : cluster_report_text(report, &style),
               output_is_document(program) ? cluster_report_json(report) : NULL, compared);
}

static int judge(const struct cluster_report *report, struct error *err) {
    _cleanup_(freep) char *line = cluster_report_line(report);

    if (cluster_report_is_good(report))
        return 0;
    if (!report->causes.count) {
        (void)error_set(err, ERROR_FLOWS, "test the pod network: %s", line);
        return error_hint(err, "winjoin diag on a Windows node named above tells why");
    }
    (void)error_set(err, ERROR_FLOWS, "test the pod network: %s; %s: %s", line,
                    report->causes.items[0].id, report->causes.items[0].message);
    return error_hint(err, "%s", report->causes.items[0].hint);
}

/* Prints the report and tells how it ended: with an older one, whether it is worse now. */
static int finish(struct program *program, const struct cluster_report *report,
                  const struct cluster_report *old, struct error *err) {
    _cleanup_json_ json_t *compared = old ? cluster_report_compare(old, report) : NULL;

    print_report(program, report, compared);
    return compared ? diag_judge_changes(compared, err) : judge(report, err);
}

static int tell_left(const struct cluster_report *report, struct error *err) {
    error_clear(err);
    (void)error_set(err, ERROR_NETWORK, "delete the namespace %s: the API server did not do it",
                    report->namespace_);
    return error_hint(err, "kubectl delete namespace %s", report->namespace_);
}

/* The report in a text, judged; `flag` and `given` name it in an error. */
static int read_judged(const char *text, size_t len, const char *flag, const char *given,
                       struct cluster_report *ret, struct error *err) {
    if (cluster_report_read(text, len, ret, err) < 0)
        return diag_file_refuse(flag, given, err);
    cluster_causes_find(ret);
    return 0;
}

/* The report of --compare; stays empty without that flag. */
static int read_old(struct program *program, struct cluster_report *ret, struct error *err) {
    const char *given = program->options.compare;
    _cleanup_(freep) char *text = NULL;
    size_t len;

    if (!given)
        return 0;
    if (diag_file_read(program, "--compare", given, &text, &len, err) < 0)
        return -1;
    return read_judged(text, len, "--compare", given, ret, err);
}

int diag_cluster_replay(struct program *program, const char *text, size_t len, struct error *err) {
    const struct program_options *o = &program->options;
    _cleanup_(cluster_report_free) struct cluster_report report = {0}, old = {0};

    if (read_judged(text, len, "--replay", o->replay, &report, err) < 0 ||
        read_old(program, &old, err) < 0)
        return -1;
    return finish(program, &report, o->compare ? &old : NULL, err);
}

/* What an administrator applies, where rights are missing: the whole result. */
static void print_grant(struct program *program, json_t *grant) {
    _cleanup_(freep) char *text = json_write_pretty(grant);

    output_text(program, text);
    output_result(program, json_incref(grant));
}

/* The evidence in a .zip, whatever became of the run (`why`); `report`: NULL where it failed. */
static int collect(struct program *program, const char *path, struct collection *collection,
                   const char *server, const struct cluster_report *report, const struct error *why,
                   struct error *err) {
    _cleanup_(freep) char *data = NULL;
    size_t len;

    if (cluster_collect(collection, server, report, report ? NULL : why->message,
                        host_now(program->host), &data, &len, err) < 0)
        return error_prefix(err, "--collect");
    return diag_file_write(program, path, data, len, err);
}

/* `quiet`: between two tests only a terminal shows what is waited for. */
static int ask(struct program *program, struct kube_client *client, struct collection *collection,
               bool quiet, struct cluster_report *ret, json_t **ret_grant, struct error *err) {
    const struct program_options *o = &program->options;
    struct progress progress;
    struct cluster_options options = {.names = &o->nodes,
                                      .selector = o->node_selector,
                                      .image = o->image,
                                      .external_ip = o->external_ip,
                                      .external_name = o->external_name,
                                      .count = (unsigned)o->count,
                                      .collection = collection,
                                      .progress_context = &progress};
    int result;

    if (!program->last)
        program->last = http_curl_new("winjoin", NULL, NULL);
    options.last = program->last;
    progress_open(&progress, program);
    if (!quiet || progress.mode == PROGRESS_LIVE) {
        options.progress = show;
        options.cells = show_cells;
    }
    result = cluster_run(client, &options, ret, ret_grant, err);
    progress_close(&progress);
    return result;
}

/* `zip`: where the evidence goes, or NULL; `old`: what is compared with, or NULL. */
static int run(struct program *program, struct kube_client *client, const char *zip,
               const struct cluster_report *old, struct error *err) {
    _cleanup_(collection_freep) struct collection *collection = zip ? collection_new() : NULL;
    _cleanup_(cluster_report_free) struct cluster_report report = {0};
    _cleanup_json_ json_t *grant = NULL;
    struct error why = {0};
    int result = ask(program, client, collection, false, &report, &grant, err);
    bool measured = result == 0;

    if (measured)
        result = finish(program, &report, old, err);
    else if (grant)
        print_grant(program, grant);
    if (report.left)
        result = tell_left(&report, err);
    if (zip && err->kind != ERROR_INTERRUPTED &&
        collect(program, zip, collection, client->server, measured ? &report : NULL, err, &why) <
            0) {
        *err = why;
        result = -1;
    }
    return result;
}

/* ---- again and again ---- */

struct watch {
    struct program *program;
    struct cluster_report *last; /* what was measured last, or --compare's; empty: nothing yet */
    bool begun;
    char failure[ERROR_MESSAGE_MAX]; /* why the last test could not be made; "" = it was */
};

static void tell_changes(struct watch *watch, const struct cluster_report *report) {
    _cleanup_json_ json_t *compared = cluster_report_compare(watch->last, report);

    if (!*watch->failure && watch->begun && !diag_compare_changed(compared))
        return;
    if (!diag_is_text(watch->program)) {
        _cleanup_json_ json_t *whole = cluster_report_json(report);
        _cleanup_json_ json_t *line =
            diag_watch_json(compared, whole, cluster_report_is_good(report));

        output_line(line);
    } else if (!watch->begun && !watch->last->nodes.count) {
        print_report(watch->program, report, NULL);
    } else {
        _cleanup_(freep) char *how = cluster_report_line(report);
        _cleanup_(freep) char *text = diag_watch_text(compared, report->time, how, &report->causes);

        output_text(watch->program, text);
    }
}

/* Credentials of a plugin may last for minutes alone: each test gets new ones. */
static int watch_once(void *context, struct error *err) {
    struct watch *watch = context;
    struct program *program = watch->program;
    struct kube_client client = {0};
    struct cluster_report report = {0};
    _cleanup_json_ json_t *grant = NULL;
    int result = open_cluster(program, &client, err);

    client.patience_ms = PATIENCE_MS;
    if (result == 0)
        result = ask(program, &client, NULL, watch->begun, &report, &grant, err);
    kube_client_close(&client);
    if (result == 0) {
        tell_changes(watch, &report);
        watch->begun = true;
        watch->failure[0] = '\0';
        cluster_report_free(watch->last);
        *watch->last = report;
        return report.left ? tell_left(&report, err) : 0;
    }
    if (grant && !watch->begun)
        print_grant(program, grant);
    if (!watch->begun || err->kind == ERROR_INTERRUPTED)
        return -1;
    diag_tell_failure(program, watch->failure, sizeof watch->failure, err);
    return 0;
}

static int run_once(struct program *program, const struct cluster_report *old, struct error *err) {
    const struct program_options *o = &program->options;
    _cleanup_(freep) char *zip = NULL;
    _cleanup_(kube_client_close) struct kube_client client = {0};

    if ((o->collect && output_path(program, "--collect", o->collect, &zip, err) < 0) ||
        open_cluster(program, &client, err) < 0)
        return -1;
    client.patience_ms = PATIENCE_MS;
    return run(program, &client, zip, o->compare ? old : NULL, err);
}

int diag_cluster(struct program *program, struct error *err) {
    const struct program_options *o = &program->options;
    const char *other = o->replay ? "replay" : o->join.verify_capture ? "capture" : NULL;
    _cleanup_(cluster_report_free) struct cluster_report old = {0};

    if (other)
        return error_set(err, ERROR_USAGE, "use either --kubeconfig or --%s", other);
    if ((o->watch && diag_check_watch(program, err) < 0) || read_old(program, &old, err) < 0)
        return -1;
    return o->watch ? diag_repeat(program, watch_once,
                                  &(struct watch){.program = program, .last = &old}, err)
                    : run_once(program, &old, err);
}
