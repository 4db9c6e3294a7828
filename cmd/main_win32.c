/* winjoin.exe: the product. */
#include <wchar.h>

#include "cmd/program.h"
#include "host/host_win32.h"
#include "host/terminal.h"

static int open_host(const char *rootfs, struct host **ret, struct error *err) {
    if (rootfs)
        return error_set(err, ERROR_USAGE, "--rootfs is only supported by winjoin on Linux");
    *ret = host_win32_open();
    return 0;
}

int wmain(int argc, wchar_t **wide);

int wmain(int argc, wchar_t **) {
    char **argv = terminal_arguments(argc, (char **)0, &argc);

    terminal_forbid_dumps();
    return program_run(argc, argv, open_host);
}
