/* winjoin diag: measures the Pod flows and says which of them fail and why. */
#include "cmd/verbs/diag.h"

#include "base/rfc3339.h"
#include "cmd/program.h"
#include "diag/collection/collection.h"
#include "diag/reports/forms.h"
#include "host/path.h"

enum { REPLAY_MAX = 64 * 1024 * 1024 };

static bool is_text(const struct program *program) {
    return !program->options.output || text_equal(program->options.output, "text");
}

struct diag_text_style diag_style(const struct program *program) {
    return (struct diag_text_style){output_utf8(program, false), output_color(program, false),
                                    program->terminal.out_is_terminal ? program->terminal.columns
                                                                      : 0};
}

/* Prints the report in the form of -o. `compared` (or NULL), the changes since an older report,
 * becomes part of the document and of the text. */
static void print_report(struct program *program, const struct diag_report *report,
                         const json_t *compared) {
    const struct diag_form *form = diag_form_find(program->options.output);
    struct diag_text_style style = diag_style(program);
    _cleanup_(freep) char *text = NULL, *changes = NULL;

    if (form->document) {
        json_t *document = form->document(report);

        if (compared)
            json_object_set(document, "changes", (json_t *)compared);
        output_result(program, document);
        return;
    }
    text = form->styled ? form->styled(report, &style) : form->text(report);
    output_text(program, text);
    if (compared && is_text(program)) {
        changes = diag_compare_text(compared);
        output_text(program, changes);
    }
}

/* Prints the report. Failed flows are the error; with --compare, only flows that got worse are. */
static int finish(struct diagnosis *d, struct error *err) {
    _cleanup_json_ json_t *compared =
        d->program->options.compare ? diag_report_compare(&d->last, &d->report) : NULL;

    print_report(d->program, &d->report, compared);
    if (!compared)
        return d->ops->judge(&d->report, err);
    error_clear(err);
    return json_bool_at(compared, "worse", false)
               ? error_set(err, ERROR_FLOWS, "compare with %s: it is worse",
                           json_text_at(compared, "since"))
               : 0;
}

/* ---- saved reports and collections ---- */

/* Reads the report of --replay or --compare, from a JSON file or a collection. `kind` is the kind
 * of report that is allowed; NULL allows any. Fails with ERROR_USAGE, because the command line
 * names the file. */
static int read_report(struct program *program, const char *flag, const char *given,
                       const char *kind, struct diag_report *ret, struct error *err) {
    _cleanup_(freep) char *path = terminal_full_path(given), *file = NULL, *text = NULL;
    size_t len;
    int result = host_read(program->host, path, REPLAY_MAX, &file, &len, err);

    if (result == 0)
        result = diag_is_collection(file, len)
                     ? diag_collection_report(file, len, REPLAY_MAX, &text, &len, err)
                     : host_read_text(program->host, path, REPLAY_MAX, &text, &len, err);
    if (result < 0 || diag_report_read(text, len, kind, ret, err) < 0) {
        err->kind = ERROR_USAGE;
        return error_prefix(err, "%s %s", flag, given);
    }
    (ret->server ? &diag_of_cluster : &diag_of_node)->find_causes(ret);
    return 0;
}

/* Writes the .zip of evidence, also after a failed test; `why` is the error of that test. */
static int collect(struct diagnosis *d, const char *path, const struct error *why,
                   struct error *err) {
    struct program *program = d->program;
    const json_t *capture;
    const char *missed;
    _cleanup_(freep) char *shown = path_shown(path), *data = NULL;
    _cleanup_(text_free) struct text out = {0};
    size_t len;

    if (d->ops->pack(d, d->report.cells.count ? NULL : why->message, &data, &len, err) < 0)
        return error_prefix(err, "--collect");
    capture = json_object_get(d->report.evidence, "capture");
    missed = json_text_at(capture, "error");
    if (capture && is_text(program)) {
        text_addf(&out, "packets of %s%s%s\n", json_text_at(capture, "flow"),
                  missed ? " were not captured: " : " were captured", missed ? missed : "");
        if (!missed && !json_array_size(json_object_get(capture, "drops")))
            text_add(&out, "  Windows dropped none meanwhile\n");
        json_each(json_object_get(capture, "drops"), i, drop) {
            long long packets = json_number_at(drop, "packets", 0);

            text_addf(&out, "  dropped: %s (%lld packet%s, %lld of this flow)\n",
                      json_text_at(drop, "reason"), packets, PLURAL(packets),
                      json_number_at(drop, "ofThisFlow", 0));
        }
        output_text(program, text_str(&out));
    }
    if (host_write(program->host, path, data, len, d->ops->collected, err) < 0)
        return error_prefix(err, "--collect");
    if (is_text(program))
        output_format(program, "the evidence is in %s (%zu KiB)\n", shown, (len + 1023) / 1024);
    return 0;
}

static int tell_left(const struct diag_report *report, struct error *err) {
    error_clear(err);
    (void)error_set(err, ERROR_NETWORK, "delete the namespace %s: the API server did not do it",
                    report->namespace_);
    return error_hint(err, "kubectl delete namespace %s", report->namespace_);
}

/* ---- --watch ---- */

/* Runs one test of --watch and prints it if something changed. If the first test cannot be made,
 * the command fails; later failures are only printed. */
static int watch_once(struct diagnosis *d, struct error *err) {
    int result = d->ops->open(d, err) < 0 ? -1 : d->ops->ask(d, err);

    d->ops->end(d, result, err);
    if (err->kind == ERROR_INTERRUPTED)
        return -1;
    if (d->report.cells.count) {
        _cleanup_json_ json_t *compared = diag_report_compare(&d->last, &d->report);
        bool first = !d->begun && !d->last.cells.count && !d->last.nodes.count;

        if (*d->failure || !d->begun || diag_compare_changed(compared)) {
            if (!is_text(d->program)) {
                _cleanup_json_ json_t *whole = diag_report_json(&d->report);
                _cleanup_json_ json_t *line = diag_watch_json(
                    compared, whole, d->ops->judge(&d->report, &(struct error){0}) == 0);

                output_line(line);
            } else if (first) {
                print_report(d->program, &d->report, NULL);
            } else {
                _cleanup_(freep) char *how = diag_report_line(&d->report);
                _cleanup_(freep) char *text =
                    diag_watch_text(compared, d->report.time, how, &d->report.causes);

                output_text(d->program, text);
            }
        }
        d->begun = true;
        d->failure[0] = '\0';
        diag_report_free(&d->last);
        d->last = take_struct(d->report);
        return d->last.left ? tell_left(&d->last, err) : 0;
    }
    diag_report_free(&d->report);
    if (!d->begun)
        return result;

    /* Print the same reason for a failed measurement only once, because the next one may work. */
    if (!text_equal(d->failure, err->message)) {
        const char *time = RFC3339_TEXT(host_now(d->program->host));
        _cleanup_json_ json_t *line =
            json_pack("{s:s, s:{s:s, s:s}}", "time", time, "error", "kind",
                      error_kind_name(err->kind), "message", err->message);

        text_format(d->failure, sizeof d->failure, "%s", err->message);
        output_format(d->program, "%s  not measured: %s\n", time, err->message);
        if (!is_text(d->program))
            output_line(line);
    }
    return 0;
}

/* Tests again and again until an error, until Ctrl-C (the usual end, so no error), or until stdout
 * is closed. */
static int watch(struct diagnosis *d, struct error *err) {
    int result;

    do {
        error_clear(err);
        result = watch_once(d, err);
    } while (result == 0 && output_flush() &&
             host_sleep(d->program->host, (unsigned)d->program->options.watch, err) == 0);
    if (err->kind && err->kind != ERROR_INTERRUPTED)
        return -1;
    error_clear(err);
    return 0;
}

/* ---- choosing what to do ---- */

static int run(struct diagnosis *d, struct error *err) {
    const struct program_options *o = &d->program->options;
    const char *other = o->replay ? "replay" : o->join.verify_capture ? "capture" : NULL;
    const char *once = o->replay        ? "replay"
                       : o->collect     ? "collect"
                       : o->output_file ? "output-file"
                                        : NULL;
    _cleanup_(freep) char *zip = NULL; /* The path of the archive for the evidence. */
    struct error why = {0};
    bool opened;
    int result;

    if (d->ops == &diag_of_cluster && other)
        return error_set(err, ERROR_USAGE, "use either --kubeconfig or --%s", other);
    if (o->all_nodes && o->nodes.count)
        return error_set(err, ERROR_USAGE, "use either --nodes or --all-nodes");
    if (o->watch && once)
        return error_set(err, ERROR_USAGE, "use either --watch or --%s", once);
    if (o->watch && !is_text(d->program) && !text_equal(o->output, "json"))
        return error_set(err, ERROR_USAGE,
                         "use -o text or -o json (an object a line) with --watch");
    if (o->join.verify_capture && !o->collect)
        return error_set(err, ERROR_USAGE,
                         "use --capture with --collect FILE: the packets go into that file");
    if (o->collect && o->replay)
        return error_set(err, ERROR_USAGE, "use either --collect or --replay");
    if (o->collect && output_path(d->program, "--collect", o->collect, &zip, err) < 0)
        return -1;
    if (o->replay) {
        if (read_report(d->program, "--replay", o->replay, NULL, &d->report, err) < 0)
            return -1;
        d->ops = d->report.server ? &diag_of_cluster : &diag_of_node;
    }
    if (o->compare &&
        read_report(d->program, "--compare", o->compare, d->ops->kind, &d->last, err) < 0)
        return -1;
    if (o->replay)
        return finish(d, err);
    if (o->watch)
        return watch(d, err);

    opened = d->ops->open(d, err) == 0;
    result = opened ? d->ops->ask(d, err) : -1;
    if (d->report.cells.count)
        result = finish(d, err);
    if (d->report.left)
        result = tell_left(&d->report, err);
    if (zip && opened && err->kind != ERROR_INTERRUPTED && collect(d, zip, err, &why) < 0) {
        *err = why;
        result = -1;
    }
    d->ops->end(d, result, err);
    return result;
}

int verb_diag(struct program *program, struct error *err) {
    const struct program_options *o = &program->options;
    bool cluster = (program->as_kubectl && !o->replay) || o->kubeconfig || o->context ||
                   o->node_selector || o->image || o->nodes.count || o->all_nodes;
    struct diagnosis d = {.program = program, .ops = cluster ? &diag_of_cluster : &diag_of_node};
    int result;

    if (o->join.verify_attempts > PROBE_ATTEMPTS_MAX)
        return error_set(err, ERROR_USAGE, "invalid value \"%lld\" for --count: at most %d",
                         o->join.verify_attempts, PROBE_ATTEMPTS_MAX);
    result = run(&d, err);
    diag_report_free(&d.report);
    diag_report_free(&d.last);
    return result;
}
