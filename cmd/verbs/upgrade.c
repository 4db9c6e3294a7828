/* winjoin upgrade: replaces the node's programs with newer ones. */
#include "cmd/program.h"
#include "host/terminal.h"
#include "join/run.h"
#include "join/upgrade/upgrade.h"

int verb_upgrade(struct program *program, struct error *err) {
    struct join_options *o = &program->options.join;
    struct upgrade upgrade = {.drain = program->options.drain};
    struct progress progress;
    struct join join = {.host = program->host,
                        .http = program->http,
                        .asked = o,
                        .progress.listener = progress_show,
                        .progress.context = &progress};
    int result;

    program_settle_paths(o);
    if (join_options_check(o, err) < 0)
        return -1;
    if (!o->dry_run)
        record_open(program, "upgrade", &join.journal);
    progress_open(&progress, program);
    (void)terminal_probe_program(&join.probe_program, &join.probe_program_len);
    result = upgrade_open(&join, &upgrade, err);
    if (result == 0 && o->dry_run) {
        result = join_run_phases(&join, true, err);
        if (result == 0) {
            _cleanup_(freep) char *text = upgrade_plan_text(&join);

            output_text(program, text);
            output_result(program, upgrade_plan(&join));
        }
    } else if (result == 0) {
        result = join_run(&join, err);
        /* The steps that an administrator must still do are printed even when a flow failed. */
        for (size_t i = 0; i < join.progress.next.count; i++)
            output_format(program, "next: %s\n", join.progress.next.items[i]);
        output_result(program, upgrade_result(&join));
        if (result == 0)
            output_text(program,
                        join.finished
                            ? "\nnothing to do: programs and configuration are up to date\n"
                            : "\nthe node is upgraded and Ready\n");
    }
    progress_name_phase(program, &join.progress, result, err);
    if (!o->dry_run)
        record_end(program, "upgrade", join.found.node_name, result, err);
    upgrade_close(&join);
    progress_close(&progress);
    return result;
}
