/* winjoin reset: asks for confirmation, undoes a join and prints what was restored. */

#include "cmd/program.h"
#include "join/undo/reset.h"

struct reset_output {
    struct program *program;
    struct progress progress; /* The progress line shows what is being undone. */
    json_t *rows;
    bool quiet;            /* Single entries are not printed, because of --progress none or json. */
    size_t files, folders; /* Files and folders are only counted; -v lists them. */
};

static void on_begin(void *context, const char *what) {
    struct reset_output *output = context;
    const struct join_event event = {.state = JOIN_WAITING, .message = what, .hint = ""};

    if (output->progress.mode == PROGRESS_LIVE)
        progress_show(&output->progress, &event);
}

static void on_entry(void *context, const char *what, const char *how, const struct error *why) {
    struct reset_output *output = context;
    bool usual = text_equal(how, "removed") || text_equal(how, "restored");
    bool file = usual && text_starts_with(what, "file ");
    bool folder = text_starts_with(what, "folder ");
    _cleanup_(freep) char *line = xasprintf("%s: %s", what, why ? why->message : how);

    record_begun(output->program);
    record_line(output->program, why ? LOG_WARNING : LOG_INFO, line);
    json_array_append_new(
        output->rows, json_pack("{s:s, s:s}", "what", what, "outcome", why ? why->message : how));
    if (!why && (file || folder) && output->program->options.verbosity == 0) {
        output->files += file;
        output->folders += folder;
        return;
    }
    progress_clear(&output->progress);
    if (!output->quiet)
        (void)fprintf(stderr, "  %s %s%s%s\n", why ? "!!" : "ok", what, why || *how ? ": " : "",
                      why ? why->message : how);
}

static int ask(const struct program *program, struct error *err) {
    char answer[16] = "";

    if (program->options.yes || program->options.join.dry_run)
        return 0;
    if (!program->as_kubeadm &&
        (!program->terminal.in_is_terminal || !program->terminal.err_is_terminal)) {
        (void)error_set(err, ERROR_USAGE, "confirm the reset: no terminal to ask on");
        return error_hint(err, "use --force");
    }
    (void)fputs("Everything that winjoin join did on this machine will be undone.\nAre you sure "
                "you want to proceed? [y/N]: ",
                stderr);
    if (fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y'))
        return 0;
    /* kubeadm exits with 1 when the reset is not confirmed, as for every failure. */
    return error_set(err, program->as_kubeadm ? ERROR_CONFLICT : ERROR_INTERRUPTED,
                     "reset was not confirmed; nothing was changed");
}

int verb_reset(struct program *program, struct error *err) {
    const char *shown = program->options.progress;
    struct reset_output output = {.program = program,
                                  .rows = json_array(),
                                  .quiet = text_equal(shown, "none") || text_equal(shown, "json")};
    struct reset_options options = {.dry_run = program->options.join.dry_run,
                                    .force = program->options.yes,
                                    .progress = on_entry,
                                    .begins = on_begin,
                                    .progress_context = &output,
                                    .http = program->http};
    struct reset_result result = {0};
    _cleanup_(freep) char *line = NULL;
    size_t entries;
    int outcome;

    if (ask(program, err) < 0) {
        json_decref(output.rows);
        return -1;
    }
    if (!options.dry_run)
        record_open(program, "reset", NULL);
    progress_open(&output.progress, program);
    output.progress.program = NULL; /* The record gets what was done, but not what begins. */
    outcome = reset_run(program->host, &options, &result, err);
    progress_close(&output.progress);
    if (output.files + output.folders && !output.quiet)
        (void)fprintf(stderr, "  ok %zu file%s, %zu folder%s (winjoin reset -v 1 names them)\n",
                      output.files, PLURAL(output.files), output.folders, PLURAL(output.folders));
    entries = json_array_size(output.rows);
    output_result(program,
                  json_pack("{s:s, s:s, s:b, s:o, s:I, s:I, s:I}", JSON_DOCUMENT("ResetResult"),
                            "changed", result.restored + result.removed > 0, "entries", output.rows,
                            "restored", (json_int_t)result.restored, "removed",
                            (json_int_t)result.removed, "failed", (json_int_t)result.failed));
    line = !entries          ? xstrdup("nothing to undo: winjoin did not change this machine\n")
           : options.dry_run ? xstrdup("nothing was changed (--dry-run)\n")
           : result.left
               ? xasprintf("%zu item%s removed, %zu restored, %zu left\n", result.removed,
                           PLURAL(result.removed), result.restored, result.left)
               : xasprintf("%zu item%s removed, %zu restored: the host is in its previous state\n"
                           "the Node object remains: kubectl delete node <name>\n"
                           "winjoin's logs and reports remain: " WINJOIN_FOLDER "\n",
                           result.removed, PLURAL(result.removed), result.restored);
    if (outcome == 0)
        output_text(program, line);
    if (!options.dry_run)
        record_end(program, "reset", NULL, outcome, err);
    if (outcome < 0 && (err->kind == ERROR_DENIED || err->kind == ERROR_CONFLICT))
        (void)error_hint(
            err,
            "close the program that uses it (Event Viewer opens winjoin.exe), or restart Windows");
    if (outcome < 0)
        (void)error_hint(err, "the rest stays in the journal: run winjoin reset again");
    return outcome;
}
