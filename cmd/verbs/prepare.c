/* winjoin prepare: installs what needs no cluster, for an image of this server. */
#include "join/prepare/prepare.h"

#include "cmd/program.h"
#include "join/run.h"

int verb_prepare(struct program *program, struct error *err) {
    struct progress progress;
    struct join join = {.host = program->host,
                        .http = program->http,
                        .asked = &program->options.join,
                        .progress.listener = progress_show,
                        .progress.context = &progress};
    int result;

    program_settle_paths(&program->options.join);
    record_open(program, "prepare", &join.journal);
    progress_open(&progress, program);
    result = prepare_open(&join, err);
    if (result == 0) {
        result = join_run(&join, err);
        progress_name_phase(program, &join.progress, result, err);
        output_result(program, prepare_result_json(&join));
        if (result == 0)
            output_text(
                program,
                join.changed
                    ? "\nthis server is prepared: take an image of it, or run winjoin join\n"
                    : "\nnothing to do: this server was prepared already\n");
    }
    record_end(program, "prepare", NULL, result, err);
    join_close(&join);
    progress_close(&progress);
    return result;
}
