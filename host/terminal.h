/* Finds out what the standard streams are and can display, and gives access to resources of the
 * program itself. Implemented in host/posix/terminal.c and host/win32/terminal.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct terminal {
    bool in_is_terminal; /* Standard input is a terminal, so the user can answer questions. */
    bool out_is_terminal;
    bool err_is_terminal;
    bool utf8;        /* The streams can display Unicode such as check marks and arrows. */
    bool color;       /* ANSI color sequences work. */
    unsigned columns; /* Width of the terminal of standard error; 0 when unknown. */
    unsigned lines;   /* Height of the terminal of standard error; 0 when unknown. */
};
/* Examines the standard streams. On Linux, closed streams are opened so that no other file gets
 * their numbers, yet their use still fails. On Windows, the streams become UTF-8, ANSI sequences
 * are enabled, and line ends are written unchanged. */
void terminal_open(struct terminal *ret);
/* Returns the arguments of this process as UTF-8, argv[0] first, terminated by NULL. On Linux they
 * are `argv`. On Windows they are made from the command line and live as long as the process. */
char **terminal_arguments(int argc, char **argv, int *ret_argc);
/* Returns the probe program for Pods, which winjoin.exe contains as the resource WINJOIN_PROBE.
 * False when this build contains none. */
bool terminal_probe_program(const void **ret_data, size_t *ret_len);
/* Makes a path from a person absolute for struct host: relative paths start in the current folder,
 * a prefix \\?\ is removed and ".." is resolved (path_plain()). On Linux, this machine's files are
 * on drive Z:. URLs stay unchanged. The caller frees the result. */
char *terminal_full_path(const char *given);
/* Opens a file for appending, by its path as a person writes it. NULL with errno on failure. */
FILE *terminal_append(const char *path);
/* Turns the display of typed characters on or off at the terminal of standard input. Without a
 * terminal it does nothing. */
void terminal_echo(bool on);
/* Disables core files and crash dumps, because they could contain secrets. */
void terminal_forbid_dumps(void);
