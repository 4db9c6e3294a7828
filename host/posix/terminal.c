/* Finds out on Linux what standard output and standard error can display, and handles paths that
 * users type. */
#include "host/terminal.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <termios.h>
#include <unistd.h>

#include "base/text.h"
#include "host/path.h"

void terminal_open(struct terminal *ret) {
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *term = getenv("TERM"), *locale = NULL;
    _cleanup_(freep) char *lower = NULL;
    struct winsize size = {0};

    /* Open /dev/null for each standard stream that the caller closed. Otherwise the next socket or
     * file would get its number and receive our output. The wrong mode is used on purpose, so that
     * writing (or reading) still fails. */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            abort(); /* Abort, because output could reach another file. */
    for (size_t i = 0; i < ARRAY_SIZE(names) && !(locale && *locale); i++)
        locale = getenv(names[i]);
    lower = text_lower(locale ? locale : "");
    /* Without a terminal, the number of columns stays 0 (unknown). */
    (void)ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
    *ret = (struct terminal){
        .in_is_terminal = isatty(STDIN_FILENO),
        .out_is_terminal = isatty(STDOUT_FILENO),
        .err_is_terminal = isatty(STDERR_FILENO),
        .utf8 = text_ends_with(lower, "utf-8") || text_ends_with(lower, "utf8"),
        .color = term && !text_equal(term, "dumb"),
        .columns = size.ws_col,
        .lines = size.ws_row,
    };
}

char **terminal_arguments(int argc, char **argv, int *ret_argc) {
    *ret_argc = argc;
    return argv;
}

bool terminal_probe_program(const void **, size_t *) {
    return false;
}

char *terminal_full_path(const char *given) {
    char folder[PATH_MAX];
    _cleanup_(freep) char *path = NULL;

    if (strstr(given, "://"))
        return xstrdup(given);
    if ((given[0] && given[1] == ':') || text_starts_with(given, "\\\\"))
        return path_plain(given);
    if (!getcwd(folder, sizeof folder))
        folder[0] = '\0';
    path = given[0] == '/' ? xasprintf("Z:%s", given) : xasprintf("Z:%s/%s", folder, given);
    return path_plain(text_replace(path, "/", '\\'));
}

char *path_shown(const char *path) {
    bool here = text_starts_with(path, "Z:\\");

    return here ? text_replace(xstrdup(path + 2), "\\", '/') : xstrdup(path);
}

FILE *terminal_append(const char *path) {
    return fopen(path, "ae");
}

void terminal_echo(bool on) {
    struct termios settings;

    if (tcgetattr(STDIN_FILENO, &settings) < 0)
        return;
    settings.c_lflag = on ? settings.c_lflag | ECHO : settings.c_lflag & ~(tcflag_t)ECHO;
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &settings);
}

void terminal_forbid_dumps(void) {
    const struct rlimit none = {0, 0};

    /* If the limit for core files cannot be set, it is already lower. */
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
