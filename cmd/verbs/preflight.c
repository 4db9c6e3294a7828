/* winjoin preflight: shows what would make a join refuse or warn; changes nothing. */
#include "cmd/program.h"
#include "join/preflight/preflight.h"
#include "join/run.h"

enum { ID_WIDTH = 20, LOOK_MS = 30000 };

static const struct {
    const char *utf8, *ascii, *color;
} marks[] = {
    [PREFLIGHT_PASS] = {"\xe2\x9c\x93", "ok", "32"},  [PREFLIGHT_WARNING] = {"!", "! ", "33"},
    [PREFLIGHT_ERROR] = {"\xe2\x9c\x97", "!!", "31"}, [PREFLIGHT_IGNORED] = {"!", "! ", "33"},
    [PREFLIGHT_NOT_RUN] = {"-", "--", "2"},
};

/* Prints the results. Checks that passed or did not apply are listed only with -v. */
static void print_checks(const struct program *program, const struct preflight_result *results,
                         size_t count) {
    size_t counts[PREFLIGHT_NOT_RUN + 1] = {0};
    bool all = program->options.verbosity > 0;
    _cleanup_(text_free) struct text out = {0};

    for (size_t i = 0; i < count; i++) {
        enum preflight_outcome outcome = results[i].outcome;

        counts[outcome]++;
        if (all || (outcome != PREFLIGHT_PASS && outcome != PREFLIGHT_NOT_RUN)) {
            const char *sign = output_utf8(program, false) ? marks[results[i].outcome].utf8
                                                           : marks[results[i].outcome].ascii;

            if (output_color(program, false))
                text_addf(&out, "  \x1b[%sm%s\x1b[0m ", marks[results[i].outcome].color, sign);
            else
                text_addf(&out, "  %s ", sign);
            text_addf(&out, "%-*s %s%s\n", ID_WIDTH, results[i].id,
                      results[i].outcome == PREFLIGHT_IGNORED ? "ignored: " : "",
                      results[i].outcome == PREFLIGHT_PASS ? results[i].help : results[i].message);
            if (*results[i].hint)
                text_addf(&out, "     %-*s %s\n", ID_WIDTH, "", results[i].hint);
        }
    }
    text_addf(&out, "%s%zu checks: %zu passed, %zu warning%s, %zu error%s", out.len ? "\n" : "",
              count, counts[PREFLIGHT_PASS], counts[PREFLIGHT_WARNING] + counts[PREFLIGHT_IGNORED],
              PLURAL(counts[PREFLIGHT_WARNING] + counts[PREFLIGHT_IGNORED]),
              counts[PREFLIGHT_ERROR], PLURAL(counts[PREFLIGHT_ERROR]));
    if (counts[PREFLIGHT_NOT_RUN])
        text_addf(&out, ", %zu not run%s", counts[PREFLIGHT_NOT_RUN],
                  all ? "" : " (-v 1 says why)");
    text_add_char(&out, '\n');
    output_text(program, text_str(&out));
}

int verb_preflight(struct program *program, struct error *err) {
    _cleanup_(freep) struct preflight_result *results = NULL;
    struct progress progress;
    struct join join = {.host = program->host,
                        .http = program->http,
                        .asked = &program->options.join,
                        .progress.listener = progress_show,
                        .progress.context = &progress};
    _cleanup_(text_list_free) struct text_list warnings = {0};
    _cleanup_(freep) char *names = NULL;
    struct limit_facts facts;
    json_t *report;
    size_t count = 0;
    int result;

    if (program_prepare_join(program, err) < 0)
        return -1;
    /* With dry_run the checks fix nothing, wait for nothing and change nothing. */
    program->options.join.dry_run = true;
    /* A person who runs preflight should not have to wait as long as a join does. */
    if (!program->options.join.timeout)
        program->options.join.timeout = LOOK_MS;
    preflight_unknown_names(&program->options.join.ignore_preflight_errors, &warnings);
    output_warnings(&warnings);
    progress_open(&progress, program);
    result = join_open(&join, err);
    if (result == 0) {
        results = preflight_run(&join, true, &count);
        print_checks(program, results, count);
        /* Users should know the limits of Windows before their first Pod. */
        preflight_limit_facts(&join, &facts);
        names = limits_that_hold(&facts);
        output_format(program, "limits of Windows here: %s (winjoin capabilities explains them)\n",
                      names);
        report = preflight_report_json(results, count);
        json_object_set_new(report, "limits", limits_json(&facts));
        output_result(program, report);
        result = preflight_judge(results, count, err);
    }
    join_close(&join);
    progress_close(&progress);
    return result;
}
