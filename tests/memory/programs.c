/* Programs that the in-memory host runs: what each was told to answer. */
#include <string.h>

#include "base/memory.h"
#include "host/path.h"
#include "tests/memory/memory.h"

/* As Kubernetes' programs do it: flags in order, the first that is not known ends it. true when
 * it has answered. */
static bool take_flags(const struct memory_program *program, const char *const *argv, int *ret_code,
                       struct text *output) {
    for (size_t i = 1; program->flags.count && argv[i]; i++) {
        const char *name = argv[i] + strspn(argv[i], "-");
        _cleanup_(freep) char *flag = xstrndup(name, strcspn(name, "="));

        if (text_equal(flag, "version"))
            return false;
        if (text_equal(flag, "help")) {
            text_add(output, "Flags:\n  -h, --help   help\n");
            for (size_t f = 0; f < program->flags.count; f++)
                text_addf(output, "      --%s string   what it does\n", program->flags.items[f]);
            *ret_code = 0;
            return true;
        }
        if (!text_list_has(&program->flags, flag)) {
            *ret_code = 1;
            return true;
        }
    }
    return false;
}

int memory_run(struct host *host, const struct host_process *process, int *ret_exit_code,
               char **ret_output, struct error *err) {
    const struct memory_host *memory = memory_of(host);
    const char *name = path_base(process->argv[0]);
    struct text line = {0}, output = {0};
    struct error why = {0};
    int result;

    for (size_t i = 0; process->argv[i]; i++)
        text_addf(&line, " %s", process->argv[i]);
    result = memory_call(host, err, "run%s", text_str(&line));
    text_free(&line);
    if (result < 0)
        return -1;
    memory_access_program(host, process->argv[0]);
    if (memory->on_run &&
        memory->on_run(memory->on_run_context, host, process, ret_exit_code, &output, &why)) {
        *ret_output = text_take(&output);
        if (!why.kind)
            return 0;
        freep(ret_output);
        if (err)
            *err = why;
        return -1;
    }
    for (size_t i = 0; i < memory->program_count; i++)
        if (text_equal_nocase(memory->programs[i].name, name)) {
            if (!take_flags(&memory->programs[i], process->argv, ret_exit_code, &output)) {
                *ret_exit_code = memory->programs[i].exit_code;
                text_add(&output, memory->programs[i].output);
            }
            *ret_output = text_take(&output);
            return 0;
        }
    return error_set_os(err, ERROR_ABSENT, 2, "run '%s': it is absent", process->argv[0]);
}
