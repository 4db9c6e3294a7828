/* Runs winjoin join, and winjoin discover, which verifies the cluster and prints its kubeconfig. */

#include "base/redact.h"
#include "cmd/program.h"
#include "cmd/verbs/diag.h"
#include "host/terminal.h"
#include "join/kubelet/kubelet_files.h"
#include "join/phases/phases.h"
#include "join/plan/plan.h"
#include "join/programs/programs.h"
#include "join/run.h"

static int list_phases(struct program *program) {
    json_t *rows = json_array(), *groups = json_array();
    _cleanup_(text_free) struct text out = {0};

    for (size_t i = 0; join_phases[i].id; i++) {
        text_addf(&out, "%-23s %s\n", join_phases[i].id, join_phases[i].help);
        json_array_append_new(
            rows, json_pack("{s:s, s:s}", "id", join_phases[i].id, "help", join_phases[i].help));
    }
    text_add_char(&out, '\n');
    for (size_t i = 0; phase_groups[i].name; i++) {
        json_t *phases;

        if (!phase_groups[i].phases[0])
            continue;
        phases = json_array();
        for (size_t k = 0; k < ARRAY_SIZE(phase_groups[i].phases) && phase_groups[i].phases[k]; k++)
            json_array_append_new(phases, json_string(phase_groups[i].phases[k]));
        text_addf(&out, "%-23s %s\n", phase_groups[i].name, phase_groups[i].help);
        json_array_append_new(
            groups, json_pack("{s:s, s:o}", "name", phase_groups[i].name, "phases", phases));
    }
    output_text(program, text_str(&out));
    output_result(program, json_pack("{s:s, s:s, s:o, s:o}", "apiVersion", "winjoin.io/v1alpha1",
                                     "kind", "JoinPhases", "phases", rows, "groups", groups));
    return 0;
}

static void print_matrix(const struct program *program, const struct join *join) {
    struct diag_text_style style = diag_style(program);
    _cleanup_(freep) char *text = NULL;

    if (!join->found.report.cells.count)
        return;
    text = diag_report_text(&join->found.report, &style);
    output_text(program, "\n");
    output_text(program, text);
}

/* Restarts Windows for --restart and registers the join's arguments, so that the join continues
 * after the restart. A token (--token or --token-file) is passed as an environment variable. */
static void restart(struct program *program, struct join *join, struct error *err) {
    const char *const last = join->progress.phase->run == phase_preflight ? NULL : "restart";
    const char *const left_out[] = {"token", "token-file", "progress", last, NULL};
    _cleanup_(text_list_free) struct text_list arguments = {0}, environment = {0};
    struct error why = {0};
    const bool given =
        options_is_given(program->set, "token") || options_is_given(program->set, "token-file");

    text_list_add(&arguments, "join");
    for (size_t i = 0; i < program->words.count; i++)
        text_list_add(&arguments, program->words.items[i]);
    options_words(program->set, left_out, &arguments, &environment);
    if (given && program->options.join.token)
        text_list_add_owned(&environment,
                            xasprintf("WINJOIN_TOKEN=%s", program->options.join.token));
    if (restart_begin(join, &arguments, &environment, &why) < 0) {
        *err = why;
        (void)error_hint(err,
                         "restart Windows and run the same command again; winjoin reset undoes "
                         "what is done");
    } else {
        (void)error_set(err, ERROR_RESTART,
                        "Windows restarts in a few seconds, and the join continues by itself");
        (void)error_hint(err, "afterwards: winjoin status, winjoin logs");
    }
}

static int run_join(struct program *program, struct join *join, struct error *err) {
    _cleanup_(freep) char *line = NULL, *end = NULL;
    const char *seen;
    int result;

    if (!text_equal(program->options.progress, "json") &&
        !text_equal(program->options.progress, "none")) {
        line =
            xasprintf("Joining %s (%s, %u.%u.%u.%u) to %s%s\n\n", join->found.node_name,
                      join->found.facts.product, join->found.facts.major, join->found.facts.minor,
                      join->found.facts.build, join->found.facts.revision,
                      join->found.options.endpoint ? join->found.options.endpoint : "the cluster",
                      join->keeps_options ? " again, with the options of its last join" : "");
        redact_tokens(line);
        (void)fputs(line, stderr);
    }
    result = join_run(join, err);
    progress_name_phase(program, &join->progress, result, err);
    /* A join that continues after a restart may restart once more at most, and only for a reason
     * that a phase after preflight found. */
    if (result < 0 && err->kind == ERROR_RESTART && program->options.join.restart &&
        !(join->progress.phase->run == phase_preflight &&
          restart_service_is(program->host, HOST_SERVICE_RUNNING)))
        restart(program, join, err);
    else if (result == 0 && restart_service_is(program->host, HOST_SERVICE_STOPPED))
        /* Without restart_end(), Windows' next start would run the join again. */
        (void)restart_end(program->host, ERROR_IGNORED);
    print_matrix(program, join);
    /* The steps that an administrator must still do are printed even when a flow failed. */
    for (size_t i = 0; i < join->progress.next.count; i++)
        output_format(program, "next: %s\n", join->progress.next.items[i]);
    output_result(program, join_result_json(join));
    if (result < 0)
        return -1;

    /* The last line claims only what the phases of this run have checked. */
    seen = text_list_has(&join->skipped, "ready")
               ? "was joined as far as requested; whether it is Ready was not checked"
           : join->found.report.cells.count ? "is Ready and its pods can talk"
                                            : "is Ready; its pod network was not tested";
    end = xasprintf("\n%s %s%s.  (%.1f s)   winjoin status - winjoin diag - winjoin reset\n",
                    join->found.node_name,
                    join->was_node && !join->changed ? "had already joined; it " : "", seen,
                    (double)(host_monotonic_ms(join->host) - join->progress.started_ms) / 1000.0);
    output_text(program, program->as_kubeadm ? kubeadm_joined_text : end);
    return 0;
}

/* Runs --dry-run: discovers the cluster and checks the host as a join does, and changes nothing.
 * When the environment variable KUBEADM_JOIN_DRYRUN_DIR names a folder, the planned files are
 * written there, as kubeadm does. */
static int run_dry(struct program *program, struct join *join, struct error *err) {
    _cleanup_json_ json_t *plan = NULL;
    _cleanup_(freep) char *text = NULL, *image = NULL, *given = NULL, *folder = NULL;
    int result = join_run_phases(join, true, err);
    size_t count;

    progress_name_phase(program, &join->progress, result, err);
    if (result < 0 || join_plan_make(join, &plan, err) < 0)
        return -1;
    image = programs_image_warning(join->host, &join->found);
    if (image)
        output_warning("%s", image);
    text = join_plan_text(plan);
    output_text(program, text);
    given = host_environment(program->host, JOIN_PLAN_FOLDER_VARIABLE);
    if (given && *given) {
        folder = terminal_full_path(given);
        if (join_plan_write(program->host, plan, folder, &count, err) < 0)
            return -1;
        output_format(program, "%zu files written to %s, without secrets and programs\n", count,
                      given);
    }
    output_result(program, take_ptr(plan));
    return 0;
}

int verb_join(struct program *program, struct error *err) {
    const struct terminal *terminal = &program->terminal;
    struct text_list *words = &program->words;
    bool phase = words->count && text_equal(words->items[0], "phase");
    bool dry_run;
    _cleanup_(freep) char *id = NULL;
    _cleanup_(text_list_free) struct text_list ids = {0};
    struct progress progress;
    struct join join = {0};
    int result;

    /* Removes the first two words, so that only the endpoint is left. */
    if (phase && words->count > 1) {
        id = xstrdup(words->items[1]);
        free(words->items[0]);
        free(words->items[1]);
        memmove(words->items, words->items + 2, (words->count - 1) * sizeof *words->items);
        words->count -= 2;
    }
    if (phase && (!id || text_equal(id, "list")))
        return list_phases(program);
    /* An unknown phase name is refused before anything else is checked. */
    if ((id && phase_names_resolve(id, &ids, err) < 0) || program_prepare_join(program, err) < 0)
        return -1;
    if (!id && host_file_type(program->host, KUBELET_KUBECONFIG_FILE) == HOST_ABSENT &&
        program_need_discovery(program, err) < 0)
        return -1;

    dry_run = program->options.join.dry_run;
    if (!dry_run)
        record_open(program, id ? "phase" : "join", &join.journal);
    progress_open(&progress, program);
    join = (struct join){.host = program->host,
                         .http = program->http,
                         .asked = &program->options.join,
                         .phase_alone = id,
                         .progress.listener = progress_show,
                         .progress.context = &progress,
                         .unattended = !dry_run && !terminal->in_is_terminal &&
                                       !terminal->out_is_terminal && !terminal->err_is_terminal};
    (void)terminal_probe_program(&join.probe_program, &join.probe_program_len);
    result = join_open(&join, err);
    if (result == 0 && !dry_run && id) {
        result = join_run_phase(&join, id, err);
        progress_name_phase(program, &join.progress, result, err);
        if (text_equal(id, "verify"))
            print_matrix(program, &join);
        output_result(program, join_result_json(&join));
    } else if (result == 0) {
        result = dry_run ? run_dry(program, &join, err) : run_join(program, &join, err);
    }
    if (!dry_run)
        record_end(program, "join", join.found.node_name, result, err);
    join_close(&join);
    progress_close(&progress);
    return result;
}

/* Lets winjoin discover show its waits as a join does. */
struct asking {
    struct progress progress;
    struct join_progress waits;
    uint64_t start_ms;
};

static void tell_asking(void *context, const struct error *why, unsigned next_ms,
                        unsigned left_ms) {
    struct asking *a = context;
    unsigned waited_ms = (unsigned)(host_monotonic_ms(a->progress.host) - a->start_ms);

    join_tell_waiting(&a->waits, waited_ms, left_ms, "", "%s; next try in %u s", why->message,
                      (next_ms + 999) / 1000);
}

int verb_discover(struct program *program, struct error *err) {
    const struct join_options *o = &program->options.join;
    struct asking asking = {.waits = {.listener = progress_show, .context = &asking.progress}};
    struct discovery_options options = {0};
    _cleanup_(discovery_result_free) struct discovery_result found = {0};
    int result;

    if (program_prepare_join(program, err) < 0 || program_need_discovery(program, err) < 0)
        return -1;
    asking.start_ms = host_monotonic_ms(program->host);
    progress_open(&asking.progress, program);
    discovery_options_make(o, &options);
    options.on_retry = tell_asking;
    options.on_retry_context = &asking;
    join_tell_waiting(&asking.waits, 0,
                      options.timeout_ms ? options.timeout_ms : DISCOVERY_TIMEOUT_MS, "", "%s %s",
                      o->endpoint                        ? "asking"
                      : strstr(o->discovery_file, "://") ? "fetching"
                                                         : "asking the cluster of",
                      o->endpoint ? o->endpoint : o->discovery_file);
    result = discovery_run(&options, program->http, program->host, &found, err);
    progress_close(&asking.progress);
    text_free(&asking.waits.waiting);
    if (result < 0)
        return err->kind != ERROR_INTERRUPTED
                   ? -1
                   : error_set(err, err->kind, "interrupted while waiting for %s",
                               options.endpoint ? options.endpoint : options.file);

    output_warnings(&found.warnings);
    if (text_equal(program->options.output, "kubeconfig")) {
        output_bytes(found.kubeconfig, found.kubeconfig_len);
        return 0;
    }
    output_format(program, "server  %s\nCA      %s\n", found.config.server,
                  found.matched_pin[0] ? found.matched_pin : "trusted without a CA hash");
    output_result(program, json_pack("{s:s, s:s, s:s*, s:s*, s:s}", JSON_DOCUMENT("Discovery"),
                                     "server", found.config.server, "matchedPin",
                                     found.matched_pin[0] ? found.matched_pin : NULL, "kubeconfig",
                                     found.kubeconfig));
    return 0;
}
