/* Command lines as Kubernetes' programs read them. */
#include "tests/standins/lib/flags.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

static const struct flag *find(const struct program *program, const char *name, size_t len) {
    for (const struct flag *f = program->flags; f->name; f++) {
        if (strlen(f->name) == len && strncmp(f->name, name, len) == 0)
            return f;
    }
    return NULL;
}

static void print_help(const struct program *program) {
    printf("Usage:\n  %s [flags]\n\nFlags:\n", program->name);
    for (const struct flag *f = program->flags; f->name; f++)
        printf("      --%s%s   %s\n", f->name, f->on ? "" : " string", f->help ? f->help : "");
    printf("  -h, --help   help for %s\n      --version   Print version information and quit\n",
           program->name);
}

/* Takes one argument; *at is moved over a value of its own. 0, or the exit code. */
static int take(const struct program *program, int argc, char **argv, int *at) {
    const char *argument = argv[*at], *name = argument + (argument[1] == '-' ? 2 : 1);
    const char *value = strchr(name, '=');
    size_t len = value ? (size_t)(value - name) : strlen(name);
    const struct flag *f = find(program, name, len);

    if (!f) {
        fprintf(stderr, "Error: unknown flag: --%.*s\n", (int)len, name);
        return 1;
    }
    if (f->on) {
        *f->on = !value || text_equal(value, "=true");
        return 0;
    }
    if (!value && ++*at >= argc) {
        fprintf(stderr, "Error: flag needs an argument: --%s\n", f->name);
        return 1;
    }
    if (f->text)
        *f->text = value ? value + 1 : argv[*at];
    return 0;
}

int flags_parse(const struct program *program, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (text_equal(argv[i], "--version") || text_equal(argv[i], "--version=true")) {
            printf("%s\n", program->version);
            return 0;
        }
        if (text_equal(argv[i], "--help") || text_equal(argv[i], "-h")) {
            print_help(program);
            return 0;
        }
        if (argv[i][0] != '-') {
            fprintf(stderr, "Error: unknown command \"%s\" for \"%s\"\n", argv[i], program->name);
            return 1;
        }
        int code = take(program, argc, argv, &i);
        if (code)
            return code;
    }
    return -1;
}
