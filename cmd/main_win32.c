/* This is the main program of winjoin.exe. */
#include <wchar.h>

#include "cmd/program.h"
#include "host/terminal.h"

int wmain(int argc, wchar_t **wide);

int wmain(int argc, wchar_t **) {
    char **argv = terminal_arguments(argc, (char **)0, &argc);

    terminal_forbid_dumps();
    return program_run(argc, argv, host_open);
}
