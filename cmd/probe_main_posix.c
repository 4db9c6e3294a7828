/* This is the main program of winjoin-probe on Linux, for the Pods of rehearsals and tests. */
#include <stdio.h>

#include "diag/probe/probe.h"

int main(int argc, char **argv) {
    _cleanup_(text_free) struct text output = {0};
    struct error err = {0};
    int failed = probe_command(argc - 1, argv + 1, &output, &err) < 0;

    fputs(text_str(&output), stdout);
    if (failed)
        fprintf(stderr, "error: %s\n", err.message);
    if (failed && err.kind == ERROR_USAGE)
        fputs(probe_usage, stderr);
    return failed ? error_exit_code(err.kind) : 0;
}
