/* What the standard streams are and can show, and the program's own resources. Platform
 * files: host/posix/terminal.c, host/win32/terminal.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct terminal {
    bool in_is_terminal; /* somebody can answer */
    bool out_is_terminal;
    bool err_is_terminal;
    bool utf8;        /* ticks and arrows can be shown */
    bool color;       /* ANSI sequences work */
    unsigned columns; /* of the terminal behind standard error; 0 = not known */
    unsigned lines;   /* the same */
};
/* Looks at the streams. On Linux those that are closed are opened so that no other file gets their
 * numbers, and using them still fails; on Windows makes them UTF-8, turns ANSI sequences on and
 * leaves line ends as they are written. */
void terminal_open(struct terminal *ret);
/* Arguments of this process as UTF-8, argv[0] first; NULL-terminated. On Linux they are those
 * given; on Windows they are made from the command line (never freed: they live as long as the
 * process). */
char **terminal_arguments(int argc, char **argv, int *ret_argc);
/* The probe program that winjoin.exe carries for pods (resource WINJOIN_PROBE); false when this
 * build carries none. */
bool terminal_probe_program(const void **ret_data, size_t *ret_len);
/* A path as a person gives it, made absolute for struct host: relative ones against the current
 * folder, a prefix \\?\ gone and ".." taken back (path_plain()); on Linux this machine's files are
 * drive Z:. URLs stay. The caller frees. */
char *terminal_full_path(const char *given);
/* A file to write at the end of, by its path as a person gives it; NULL with errno. */
FILE *terminal_append(const char *path);
/* Does the terminal behind standard input show what is typed? Where there is none: nothing. */
void terminal_echo(bool on);
/* No core file and no crash dump may hold secrets. */
void terminal_forbid_dumps(void);
