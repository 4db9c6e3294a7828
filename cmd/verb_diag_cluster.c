/* winjoin diag --kubeconfig: a whole cluster, from any machine that reaches its API server. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmd/output.h"
#include "cmd/program.h"
#include "cmd/progress.h"
#include "diag/cluster/cluster.h"
#include "join/phases/phases.h"
#include "kube/client.h"
#include "kube/exec_plugin.h"

enum { PATIENCE_MS = 15000 };

bool diag_asks_for_cluster(const struct program *program) {
    const struct program_options *o = &program->options;

    return o->kubeconfig || o->context || o->node_selector || o->image || o->nodes.count;
}

/* Where kubectl looks without a flag. */
static char *kubeconfig_path(struct program *program, struct error *err) {
    _cleanup_(freep) char *named = host_environment(program->host, "KUBECONFIG");
    _cleanup_(freep) char *home = host_environment(program->host, "HOME");
    _cleanup_(freep) char *path = NULL;

    if (program->options.kubeconfig)
        return terminal_full_path(program->options.kubeconfig);
    if (named && *named) {
        if (strpbrk(named[1] == ':' ? named + 2 : named, ":;")) { /* behind a drive's letter */
            (void)error_set(err, ERROR_UNSUPPORTED,
                            "KUBECONFIG names several files, which are not merged");
            (void)error_hint(err, "use --kubeconfig FILE");
            return NULL;
        }
        return terminal_full_path(named);
    }
    if (!home)
        home = host_environment(program->host, "USERPROFILE");
    if (!home) {
        (void)error_set(err, ERROR_USAGE, "the cluster's kubeconfig is missing");
        (void)error_hint(err, "use --kubeconfig FILE");
        return NULL;
    }
    path = xasprintf("%s/.kube/config", home);
    return terminal_full_path(path);
}

static int open_cluster(struct program *program, struct kube_client *ret, struct error *err) {
    _cleanup_(freep) char *path = kubeconfig_path(program, err);
    struct kubeconfig config = {0};
    int result;

    if (!path)
        return -1;
    if (kubeconfig_read_context(program->host, path, program->options.context, &config, err) < 0) {
        err->kind = ERROR_USAGE; /* the file that was named, not this machine */
        return error_prefix(err, "--kubeconfig");
    }
    if (config.impersonation)
        result = error_set(err, ERROR_UNSUPPORTED,
                           "kubeconfig: impersonation (%s) is not supported", config.impersonation);
    else if (config.exec && !config.token && !config.client_cert_pem &&
             kubeconfig_run_plugin(program->host, path, &config, err) < 0)
        result = -1;
    else
        result = kube_client_open(program->http, program->host, &config, ret, err);
    kubeconfig_free(&config);
    return result;
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

static void print_report(struct program *program, const struct cluster_report *report) {
    struct diag_text_style style = {output_utf8(program, false), output_color(program, false),
                                    program->terminal.out_is_terminal ? program->terminal.columns
                                                                      : 0};
    const char *format = program->options.output;
    _cleanup_(freep) char *text = text_equal(format, "junit") ? cluster_report_junit(report)
                                  : text_equal(format, "html")
                                      ? cluster_report_html(report)
                                      : cluster_report_text(report, &style);

    output_text(program, text);
    if (output_is_document(program))
        output_result(program, cluster_report_json(report));
}

static int judge(const struct cluster_report *report, struct error *err) {
    _cleanup_(freep) char *line = cluster_report_line(report);

    if (report->left) {
        (void)error_set(err, ERROR_NETWORK, "delete the namespace %s: the API server did not do it",
                        report->namespace_);
        return error_hint(err, "kubectl delete namespace %s", report->namespace_);
    }
    if (cluster_report_is_good(report))
        return 0;
    (void)error_set(err, ERROR_FLOWS, "test the pod network: %s", line);
    return error_hint(err, "winjoin diag on a Windows node named above tells why");
}

/* What an administrator applies, where rights are missing: the whole result. */
static void print_grant(struct program *program, json_t *grant) {
    _cleanup_(freep) char *text = json_write_pretty(grant);

    output_text(program, text);
    output_result(program, json_incref(grant));
}

static int run(struct program *program, struct kube_client *client, struct error *err) {
    const struct program_options *o = &program->options;
    struct progress progress;
    struct cluster_options options = {.names = &o->nodes,
                                      .selector = o->node_selector,
                                      .image = o->image,
                                      .external_ip = o->external_ip,
                                      .external_name = o->external_name,
                                      .last = http_curl_new("winjoin", NULL, NULL),
                                      .progress = show,
                                      .progress_context = &progress};
    struct cluster_report report = {0};
    _cleanup_json_ json_t *grant = NULL;
    int result;

    progress_open(&progress, program);
    result = cluster_run(client, &options, &report, &grant, err);
    progress_close(&progress);
    if (result == 0) {
        print_report(program, &report);
        result = judge(&report, err);
        cluster_report_free(&report);
    } else if (grant) {
        print_grant(program, grant);
    }
    http_free(options.last);
    return result;
}

int diag_cluster(struct program *program, struct error *err) {
    const struct program_options *o = &program->options;
    struct kube_client client = {0};
    const char *other = o->replay                ? "replay"
                        : o->collect             ? "collect"
                        : o->compare             ? "compare"
                        : o->count               ? "count"
                        : o->watch               ? "watch"
                        : o->join.verify_capture ? "capture"
                                                 : NULL;
    int result;

    if (other)
        return error_set(err, ERROR_USAGE, "use either --kubeconfig or --%s", other);
    if (text_equal(o->output, "metrics"))
        return error_set(err, ERROR_USAGE, "use -o metrics on a node, without --kubeconfig");
    if (open_cluster(program, &client, err) < 0)
        return -1;
    client.patience_ms = PATIENCE_MS;
    result = run(program, &client, err);
    kube_client_close(&client);
    return result;
}
