/* Runs programs with --help to learn which flags they have. */
#include "services/program_flags.h"

#include "host/path.h"

enum { HELP_MS = 20000 };

static const char name_letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                   "-_.";

void program_flags_parse(const char *help, struct text_list *ret) {
    for (const char *line = help; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *p = line + strspn(line, " ");
        size_t len;

        if (p == line) /* The line of a flag is indented. */
            continue;
        if (p[0] == '-' && p[1] != '-' && p[1] && p[2] == ',' && p[3] == ' ')
            p += 4; /* Skips the short name of a flag, as in "-v, --v Level". */
        if (p[0] != '-' || p[1] != '-')
            continue;
        len = strspn(p + 2, name_letters);
        if (len && strchr(" \r\n", p[2 + len]))
            text_list_add_owned(ret, xstrndup(p + 2, len));
    }
}

int program_ask(struct host *host, const char *const *argv, int *ret_code, char **ret,
                struct error *err) {
    const struct host_process process = {.argv = argv, .timeout_ms = HELP_MS};
    _cleanup_(freep) char *folder = path_parent(argv[0]);

    return host_refuse_untrusted(host, argv[0], err) < 0 ||
                   host_refuse_untrusted_in(host, folder, err) < 0
               ? -1
               : host_run(host, &process, ret_code, ret, err);
}

int program_flags_read(struct host *host, const char *program, struct text_list *ret,
                       struct error *err) {
    const char *const argv[] = {program, "--help", NULL};
    _cleanup_(freep) char *output = NULL;
    int code;

    if (program_ask(host, argv, &code, &output, err) < 0)
        return -1;
    if (code == 0 && output)
        program_flags_parse(output, ret);
    return 0;
}

int program_takes(struct host *host, const char *program, const struct text_list *arguments,
                  bool *ret, struct error *err) {
    _cleanup_(freep) const char **argv = xcalloc(arguments->count + 3, sizeof *argv);
    _cleanup_(freep) char *output = NULL;
    size_t n = 0;
    int code;

    argv[n++] = program;
    for (size_t i = 0; i < arguments->count; i++)
        argv[n++] = arguments->items[i];
    argv[n] = "--help";
    if (program_ask(host, argv, &code, &output, err) < 0)
        return -1;
    *ret = code == 0;
    return 0;
}
