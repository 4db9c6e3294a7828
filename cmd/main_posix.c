/* This main program for Linux rehearses a join under --rootfs and runs verbs that need no
 * Windows. */
#include "cmd/program.h"
#include "host/terminal.h"

int main(int argc, char **argv) {
    terminal_forbid_dumps();
    return program_run(argc, argv, host_open);
}
