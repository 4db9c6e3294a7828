/* winjoin diag --kubeconfig: tests a cluster from any machine that reaches its API server. */
#include "cmd/program.h"
#include "cmd/verbs/diag.h"
#include "diag/cluster/cluster.h"
#include "join/phases/phases.h"

enum { PATIENCE_MS = 15000 };

/* Opens the cluster again for each test, since a plugin's credentials may expire in minutes. */
static int open(struct diagnosis *d, struct error *err) {
    struct program *program = d->program;
    _cleanup_(freep) char *named = NULL, *home = NULL, *path = NULL;

    /* Without --kubeconfig, the file is the one that kubectl reads. */
    if (!program->options.kubeconfig) {
        named = host_environment(program->host, "KUBECONFIG");
        home = host_environment(program->host, "HOME");
        if (named && *named) {
            /* The colon after a drive letter does not separate paths. */
            if (strpbrk(named[1] == ':' ? named + 2 : named, ":;")) {
                (void)error_set(err, ERROR_UNSUPPORTED,
                                "KUBECONFIG names several files, which are not merged");
                return error_hint(err, "use --kubeconfig FILE");
            }
            path = take_ptr(named);
        } else {
            if (!home)
                home = host_environment(program->host, "USERPROFILE");
            if (!home) {
                (void)error_set(err, ERROR_USAGE, "the cluster's kubeconfig is missing");
                return error_hint(err, "use --kubeconfig FILE");
            }
            path = xasprintf("%s/.kube/config", home);
        }
    }
    if (given_cluster_open(program, path, &d->client, err) < 0)
        return -1;
    d->client.patience_ms = PATIENCE_MS;
    d->collection = program->options.collect ? collection_new() : NULL;
    return 0;
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

static void show_cells(void *context, const struct diag_report *report) {
    _cleanup_(text_list_free) struct text_list lines = {0};

    cluster_report_progress(report, &lines);
    progress_table(context, &lines);
}

static int judge(const struct diag_report *report, struct error *err) {
    _cleanup_(freep) char *line = diag_report_line(report);

    if (diag_report_is_good(report))
        return 0;
    if (!report->causes.count) {
        (void)error_set(err, ERROR_FLOWS, "test the pod network: %s", line);
        return error_hint(err, "winjoin diag on a Windows node named above tells why");
    }
    (void)error_set(err, ERROR_FLOWS, "test the pod network: %s; %s: %s", line,
                    report->causes.items[0].id, report->causes.items[0].message);
    return error_hint(err, "%s", report->causes.items[0].hint);
}

/* Runs a test. Later tests of --watch show progress only on a terminal that rewrites its line. */
static int ask(struct diagnosis *d, struct error *err) {
    struct program *program = d->program;
    const struct program_options *o = &program->options;
    struct cluster_options options = {.names = &o->nodes,
                                      .all = o->all_nodes,
                                      .selector = o->node_selector,
                                      .image = o->image,
                                      .external_ip = o->join.external_ip,
                                      .external_name = o->join.external_name,
                                      .count = (unsigned)o->join.verify_attempts,
                                      .collection = d->collection,
                                      .progress_context = &d->progress};
    _cleanup_json_ json_t *grant = NULL;
    int result;

    if (!program->last)
        program->last = http_curl_new("winjoin", NULL, NULL);
    options.last = program->last;
    progress_open(&d->progress, program);
    if (!d->begun || d->progress.mode == PROGRESS_LIVE) {
        options.progress = show;
        options.cells = show_cells;
    }
    result = cluster_run(&d->client, &options, &d->report, &grant, err);
    progress_close(&d->progress);
    /* Without enough rights, the result is the manifest that an administrator has to apply. */
    if (grant && !d->begun) {
        _cleanup_(freep) char *text = json_write_pretty(grant);

        output_text(program, text);
        output_result(program, take_ptr(grant));
    }
    return result;
}

static int pack(struct diagnosis *d, const char *failure, char **ret, size_t *ret_len,
                struct error *err) {
    return cluster_collect(d->collection, d->client.server, failure ? NULL : &d->report, failure,
                           host_now(d->program->host), ret, ret_len, err);
}

static void end(struct diagnosis *d, int result, const struct error *err) {
    (void)result;
    (void)err;
    kube_client_close(&d->client);
    collection_freep(&d->collection);
}

const struct diag_operations diag_of_cluster = {.kind = CLUSTER_REPORT_KIND,
                                                .collected = HOST_PUBLIC,
                                                .find_causes = cluster_causes_find,
                                                .judge = judge,
                                                .open = open,
                                                .ask = ask,
                                                .pack = pack,
                                                .end = end};
