/* This is the main program of winjoin-probe.exe. Images may have little more than the C library. */
#include <stdio.h>
#include <wchar.h>

#include "diag/probe/probe.h"
#include "host/socket.h"

/* The variable and function that the compiler's stack protector needs. GCC's own library for them
 * needs advapi32.dll, which a Pod's image may lack. */
extern void *__stack_chk_guard;
void *__stack_chk_guard = (void *)0x2b6e0d0affd51c00;
void __stack_chk_fail(void);

void __stack_chk_fail(void) {
    abort();
}

__attribute__((constructor, no_stack_protector)) static void stack_guard_set(void) {
    uintptr_t here = (uintptr_t)&here; /* The address of this variable differs from run to run. */

    __stack_chk_guard = (void *)((socket_now_us() * 0x9e3779b97f4a7c15u ^ here) << 8);
}

int wmain(int argc, wchar_t **wide);

int wmain(int argc, wchar_t **wide) {
    char **argv = xcalloc((size_t)argc + 1, sizeof *argv);
    _cleanup_(text_free) struct text output = {0};
    struct error err = {0};
    int failed;

    /* Targets and names are ASCII (DNS names, addresses, winjoin's own folders). Other characters
     * become '?', which no probe accepts. */
    for (int i = 0; i < argc; i++) {
        size_t len = wcslen(wide[i]);

        argv[i] = xcalloc(len + 1, 1);
        for (size_t k = 0; k < len; k++)
            argv[i][k] = wide[i][k] > 0 && wide[i][k] < 0x80 ? (char)wide[i][k] : '?';
    }
    failed = probe_command(argc - 1, argv + 1, &output, &err) < 0;
    fputs(text_str(&output), stdout);
    if (failed)
        fprintf(stderr, "error: %s\n", err.message);
    if (failed && err.kind == ERROR_USAGE)
        fputs(probe_usage, stderr);
    for (int i = 0; i < argc; i++)
        free(argv[i]);
    free(argv);
    return failed ? error_exit_code(err.kind) : 0;
}
